-- Texts are UTF-8 from here on, whatever init_connect has said.
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
