# Scripts that start programs of Debian packages without installing them source this file.
# shellcheck shell=bash

# unpack FOLDER SUITE PACKAGE…: sets $run_unpacked to the words that start a program of FOLDER, such as
# "${run_unpacked[@]}" "$FOLDER/usr/bin/mysql". FOLDER holds the packages of that suite of Debian with everything that
# they depend on, down to the C library and its loader, so that nothing of this system is used or changed. An existing
# FOLDER is used as it is; delete it to fetch the packages again. Prints what is missing and fails if the packages are
# not available.
unpack() {
  local folder=$1 suite=$2 libraries loader
  shift 2
  mkdir -p "$(dirname "$folder")"
  # If several scripts begin at the same time, one fetches the packages, and the others wait for it.
  [ -d "$folder" ] || (flock 9 && { [ -d "$folder" ] || fetch_packages "$folder" "$suite" "$@"; }) 9>"$folder.lock" || return
  rm -f "$folder.lock"
  libraries=$(echo "$folder"/usr/lib/*-linux-gnu)
  loader=$(echo "$libraries"/ld-linux*.so.*)
  [ -x "$loader" ] || { echo "$folder has no loader; delete the folder" >&2; return 1; }
  run_unpacked=("$loader" --library-path "$libraries")
}

# fetch_packages FOLDER SUITE PACKAGE…: makes FOLDER, or nothing if it fails. apt works in a separate folder in which no
# package is installed yet, so it also fetches every library. The function runs in a subshell of its own.
fetch_packages() {
  local folder=$1 suite=$2 work mirror mirrors package
  shift 2
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "apt-get and dpkg-deb are missing" >&2; return 1; }
  [ -r "$keyring" ] || { echo "the package debian-archive-keyring is not installed" >&2; return 1; }
  # The mirrors that this system uses, Debian's own first; a mirror for security updates has no such suite.
  mirrors=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    grep -v -- '-security/*$' | sort -u | awk '{ print !/debian\/*$/, $0 }' | sort -s -k1,1 | cut -d' ' -f2-)
  [ -n "$mirrors" ] || { echo "apt's sources name no mirror of Debian" >&2; return 1; }
  work=$(mktemp -d "$folder.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work"/apt/{lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d} "$work/root"
  : >"$work/apt/status"
  # Uses the system's proxies and certificates, and none of its other settings. A mirror that is no longer updated,
  # whose list has expired, is good enough for tests.
  apt-config dump Acquire | grep -iE '^Acquire::(http|https|ftp|mirror)::' >"$work/apt/conf" || true
  cat >>"$work/apt/conf" <<CONF
Dir::State "$work/apt"; Dir::State::lists "$work/apt/lists"; Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt"; Dir::Cache::archives "$work/apt/archives"; Dir::Log "$work/apt";
Dir::Etc "$work/apt/etc"; Dir::Etc::sourceparts "-"; Dir::Etc::trustedparts "-";
APT::Install-Recommends "false"; APT::Sandbox::User "$(id -un)"; Debug::NoLocking "true";
Acquire::Languages "none"; Acquire::Retries "3"; Acquire::Check-Valid-Until "false";
CONF
  apt_there() { APT_CONFIG=$work/apt/conf apt-get -q -y "$@" >>"$work/log" 2>&1; }
  for mirror in $mirrors; do
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/apt/etc/sources.list"
    if apt_there update && apt_there --download-only install "$@"; then
      for package in "$work"/apt/archives/*.deb; do dpkg-deb -x "$package" "$work/root" || return 1; done
      chmod 755 "$work/root"
      mv "$work/root" "$folder"
      return
    fi
  done
  tail -n 5 "$work/log" >&2
  echo "apt cannot fetch $* of Debian $suite" >&2
  return 1
}
