# What a Debian package has in another place than `cmake --install`. CPack runs this when the files are in its folder, one
# folder for each component.
file(GLOB zsh_folders ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*${CPACK_PACKAGING_INSTALL_PREFIX}/share/zsh)
foreach(zsh_folder IN LISTS zsh_folders)
  # Debian's zsh does not look into /usr/share/zsh/site-functions.
  file(RENAME ${zsh_folder}/site-functions ${zsh_folder}/vendor-completions)
endforeach()
