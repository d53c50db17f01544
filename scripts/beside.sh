# What the scripts share that run a command beside servers of their own. Sourced by them, not run.
# shellcheck shell=bash

# own_folder PREFIX USER: makes $folder, for servers that run as $user: USER where the script runs as root, for a server
# refuses to. `server COMMAND…` runs a command as that user, in that folder. The name is short, for a Unix socket's path
# may have 107 bytes.
own_folder() {
  user=$(id -un)
  as_user=()
  if [ "$(id -u)" = 0 ]; then
    user=$2
    id -u "$user" >/dev/null 2>&1 || user=nobody
    as_user=(runuser -u "$user" --)
  fi
  folder=$(mktemp -d "/tmp/rowlock-$1.XXXXXX")
  chmod 755 "$folder"
  [ ${#as_user[@]} = 0 ] || chown "$user" "$folder"
}
server() { (cd "$folder" && "${as_user[@]}" "$@"); }

# end_with_script FUNCTION: calls it, which ends the servers, and removes the folder, however this script ends: even when
# it is killed.
end_with_script() {
  end_servers=$1
  child=
  trap clean_up EXIT
  trap 'interrupted 129' HUP
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  (
    trap '' HUP INT TERM
    exec 0</dev/null >/dev/null 2>&1
    tail --pid=$$ -f /dev/null
    [ -d "$folder" ] && clean_up
  ) &
}
clean_up() {
  # A second signal must not leave a server behind.
  trap '' HUP INT TERM
  trap - EXIT
  "$end_servers"
  rm -rf "$folder"
}
interrupted() {
  [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true
  [ -z "$child" ] || wait "$child" 2>/dev/null || true
  exit "$1"
}

# free_port: sets $port to one that nobody listens on, below the range from which the kernel takes ports by itself.
free_port() {
  port=$((10000 + RANDOM % 20000))
  while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((10000 + RANDOM % 20000)); done
}

# run_command COMMAND…: with this script's input; returns its status. In the background, so that a signal is handled at
# once and not when the command has ended; a shell lets what it puts there ignore Ctrl-C, which is taken back.
run_command() {
  local status=0
  env --default-signal=INT,QUIT "$@" <&0 &
  child=$!
  wait "$child" || status=$?
  return "$status"
}
