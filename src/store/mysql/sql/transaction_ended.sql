SET SESSION wait_timeout = 90000;
