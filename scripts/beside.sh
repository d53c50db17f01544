# Scripts that run a command beside servers of their own source this file.
# shellcheck shell=bash

# keep_files_in_memory: if there is room, servers and SQLite write to memory. No test then waits for a disk.
keep_files_in_memory() {
  local folder=/dev/shm room_kb=$((6 * 1024 * 1024))
  [ -w "$folder" ] || return 0
  [ "$(df -Pk "$folder" | awk 'NR == 2 {print $4}')" -ge "$room_kb" ] || return 0
  [ "$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)" -ge "$room_kb" ] || return 0
  export ROWLOCK_SERVER_FOLDER=$folder TMPDIR=$folder
}

# own_folder PREFIX USER: makes $folder in ROWLOCK_SERVER_FOLDER or in /tmp, for servers that run as $user. Servers
# refuse to run as root, so if the script runs as root, $user is USER. `server COMMAND…` runs a command as $user, in
# $folder. The folder's name is short, because the path of a Unix socket has at most 107 bytes.
own_folder() {
  user=$(id -un)
  as_user=()
  if [ "$(id -u)" = 0 ]; then
    user=$2
    id -u "$user" >/dev/null 2>&1 || user=nobody
    as_user=(runuser -u "$user" --)
  fi
  folder=$(mktemp -d "${ROWLOCK_SERVER_FOLDER:-/tmp}/rowlock-$1.XXXXXX")
  chmod 755 "$folder"
  [ ${#as_user[@]} = 0 ] || chown "$user" "$folder"
}
server() { (cd "$folder" && "${as_user[@]}" "$@"); }

# end_with_script FUNCTION: when this script ends, even by SIGKILL, calls FUNCTION, which ends the servers, and removes
# the folder.
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
  # A second signal must not interrupt the cleanup: a server would keep running.
  trap '' HUP INT TERM
  trap - EXIT
  "$end_servers"
  rm -rf "$folder"
}
interrupted() {
  [ -z "$child" ] || end_processes "$child"
  exit "$1"
}

# end_processes PID…: sends SIGTERM to children of this shell, and waits until they have ended. For a trap: if a child ends
# while a signal interrupts `wait`, bash forgets that it has ended, and a second `wait` would wait for ever.
end_processes() {
  local pid
  kill -TERM "$@" 2>/dev/null || true
  for pid in "$@"; do
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  done
}

# free_port: sets $port to a free port, below the range from which the kernel chooses ports: one of the 600 from
# ROWLOCK_FIRST_PORT on, if that is set.
free_port() {
  local first=${ROWLOCK_FIRST_PORT:-10000} count=20000
  [ -z "${ROWLOCK_FIRST_PORT:-}" ] || count=600
  port=$((first + RANDOM % count))
  while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((first + RANDOM % count)); done
}

# run_command COMMAND…: runs the command with this script's input; returns its status. The command runs in the
# background, so that the script handles a signal at once. A shell makes background commands ignore Ctrl-C; env undoes
# that.
run_command() {
  local status=0
  env --default-signal=INT,QUIT "$@" <&0 &
  child=$!
  wait "$child" || status=$?
  return "$status"
}
