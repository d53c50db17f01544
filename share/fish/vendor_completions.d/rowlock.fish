# Completion of rowlock for fish. tests/cli/completion_test.cpp compares the words with those of `rowlock --help`.

# What the line names before the cursor, one a line: the command ("", "run", "epoch raise") and its words that are no
# options. Fails behind "--".
function __rowlock_line
    set -l found ""
    set -l rest
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
        else if test "$word" = --
            return 1
        else if contains -- $word --above --age --application --as --at-most --capacity --conflict-exit-code --connections --data --delay --dialect --drain --election --format --gc-idle --hold --host --idle --interval --keep --kill-after --limit --listen --listen-url --metrics-every --metrics-names --min-hold --new-token --out --permits --placeholders --prefix --rate --reason --receipt --record --role --schema --sort --stop --sweep-every --to --tokens --ttl --url --value --wait --within -E -w
            set is_value yes
        else if string match -q -- '-*' $word; or test "$word" = help -a -z "$found"
            continue
        else if test -z "$found"
            set found $word
        else if contains -- "$found $word" "epoch raise" "epoch show" "epoch skew" "migrate adopt" "migrate down" "migrate grants" "migrate sql" "migrate status" "migrate up" "migrate verify"
            set found "$found $word"
        else
            set -a rest $word
        end
    end
    printf '%s\n' "$found" $rest
end

function __rowlock_command
    set -l line (__rowlock_line)
    and echo $line[1]
end

function __rowlock_wants_name
    set -l line (__rowlock_line)
    and test (count $line) = 1
    and not contains -- help (commandline -opc)
    and contains -- "$line[1]" run elect acquire show queue history release list watch
end

# The names of locks, one a line, except those that JSON writes otherwise.
function __rowlock_names
    set -l database (commandline -opc)[1]
    set -l takes ""
    for word in (commandline -opc)[2..-1]
        if test -n "$takes"
            set -a database $takes $word
            set takes ""
        else if contains -- $word --url --prefix --schema
            set takes $word
        end
    end
    timeout 3 $database list --limit 1000 --json 2>/dev/null </dev/null | sed -n 's/^    "name": "\([^"\\]*\)",$/\1/p'
end

function __rowlock_at
    set -l command (__rowlock_command)
    and test "$command" = "$argv[1]"
end

function __rowlock_in_subcommand
    set -l command (__rowlock_command)
    and test -n "$command"
end

function __rowlock_in_words_of_command
    not __rowlock_command >/dev/null
end

complete -c rowlock -n 'not __rowlock_in_words_of_command' -f
complete -c rowlock -n __rowlock_wants_name -a '(__rowlock_names)' -d 'A lock'
complete -c rowlock -n '__rowlock_at ""' -a run -d 'Run a command while holding a lock: run NAME -- COMMAND ...'
complete -c rowlock -n '__rowlock_at ""' -a elect -d 'Run a command while this process leads: elect NAME -- COMMAND ...'
complete -c rowlock -n '__rowlock_at ""' -a acquire -d 'Acquire a lock that outlives this command, and print a receipt for it.'
complete -c rowlock -n '__rowlock_at ""' -a renew -d 'Extend a hold of `rowlock acquire` to its full ttl from now. Exit code 76: it was lost.'
complete -c rowlock -n '__rowlock_at ""' -a guard -d 'Print the SQL with which a transaction proves that it holds the lock.'
complete -c rowlock -n '__rowlock_at ""' -a list -d 'List locks, with their holders and numbers of waiters.'
complete -c rowlock -n '__rowlock_at ""' -a watch -d 'Show locks as they change: a table in a terminal (q ends it), otherwise a line per change.'
complete -c rowlock -n '__rowlock_at ""' -a show -d 'Show one lock and its holders. Exit code 1: there is no such lock.'
complete -c rowlock -n '__rowlock_at ""' -a queue -d 'Show the waiters of a lock, the first one first; or show all deadlocks.'
complete -c rowlock -n '__rowlock_at ""' -a history -d 'Show what happened to a lock, or choose which names are recorded.'
complete -c rowlock -n '__rowlock_at ""' -a release -d 'Release a hold of `rowlock acquire`; or a lock that others hold, by force or by a request to them.'
complete -c rowlock -n '__rowlock_at ""' -a sweep -d 'Kill expired leases and release what they held. Clients do this too; running it is harmless.'
complete -c rowlock -n '__rowlock_at ""' -a gc -d 'Delete free locks that nobody has used for a long time. Their tokens keep rising.'
complete -c rowlock -n '__rowlock_at ""' -a epoch -d 'Show or raise the epoch, which keeps tokens rising after a restore from a backup.'
complete -c rowlock -n '__rowlock_at ""' -a doctor -d 'Check whether rowlock can keep its promises on this database. Exit code 1: it found errors.'
complete -c rowlock -n '__rowlock_at ""' -a serve -d 'Run beside the database: a dashboard, health checks, metrics, scheduled sweeps, and locks over HTTP.'
complete -c rowlock -n '__rowlock_at ""' -a migrate -d 'Create, upgrade and check rowlock\'s tables.'
complete -c rowlock -n '__rowlock_at ""' -a help -d 'Print the help of a command'
complete -c rowlock -n '__rowlock_at ""' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at ""' -l url -x -d 'The database. Default: ROWLOCK_URL, or the file that ROWLOCK_URL_FILE names; use these for passwords'
complete -c rowlock -n '__rowlock_at ""' -l prefix -x -d 'Prefix of the tables\' names (default rowlock_)'
complete -c rowlock -n '__rowlock_at ""' -l schema -x -d 'PostgreSQL: the schema of the tables'
complete -c rowlock -n '__rowlock_at ""' -l listen-url -x -d 'PostgreSQL behind a pooler: the server itself, for wake-ups. Default: ROWLOCK_LISTEN_URL'
complete -c rowlock -n '__rowlock_at ""' -l application -x -d 'The name that operators see for this holder or waiter (default: rowlock and the command)'
complete -c rowlock -n '__rowlock_at ""' -l json -d 'Print one JSON array of objects'
complete -c rowlock -n '__rowlock_at ""' -s q -l quiet -d 'Print nothing on stderr except errors'
complete -c rowlock -n '__rowlock_at ""' -s v -l verbose -d 'Report on stderr what happens: waits, grants, releases, background work'
complete -c rowlock -n '__rowlock_at ""' -s V -l version -d 'Display program version information and exit'
complete -c rowlock -n '__rowlock_at "acquire"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "acquire"' -s w -l wait -x -d 'Give up after this time, such as 30s; 0: do not wait'
complete -c rowlock -n '__rowlock_at "acquire"' -s n -l no-wait -d 'The same as --wait 0'
complete -c rowlock -n '__rowlock_at "acquire"' -s E -l conflict-exit-code -x -d 'Exit code for busy, instead of 75'
complete -c rowlock -n '__rowlock_at "acquire"' -l delay -x -d 'How long the lock rests after its holder was lost (default 0); stored with the name'
complete -c rowlock -n '__rowlock_at "acquire"' -l unfair -d 'Grant the free lock to any request, even before the waiters; stored with the name'
complete -c rowlock -n '__rowlock_at "acquire"' -s s -l shared -d 'Take the lock as a reader: together with other readers, but not with a writer'
complete -c rowlock -n '__rowlock_at "acquire"' -s x -l exclusive -d 'Take the lock as a writer: alone; readers of this name use --shared'
complete -c rowlock -n '__rowlock_at "acquire"' -l permits -x -d 'How many permits to take (default 1)'
complete -c rowlock -n '__rowlock_at "acquire"' -l capacity -x -d 'How many permits the lock has; all users of the name must say the same number'
complete -c rowlock -n '__rowlock_at "acquire"' -l data -x -d 'A text that others see beside the hold, such as "deploy 4711"'
complete -c rowlock -n '__rowlock_at "acquire"' -l ttl -x -d 'How long the hold lasts if it is neither renewed nor released: 100ms to 24h'
complete -c rowlock -n '__rowlock_at "doctor"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "elect"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "elect"' -s w -l wait -x -d 'Give up after this time, such as 30s; 0: do not wait'
complete -c rowlock -n '__rowlock_at "elect"' -s n -l no-wait -d 'The same as --wait 0'
complete -c rowlock -n '__rowlock_at "elect"' -s E -l conflict-exit-code -x -d 'Exit code for busy, instead of 75'
complete -c rowlock -n '__rowlock_at "elect"' -l delay -x -d 'How long the lock rests after its holder was lost (default 0); stored with the name'
complete -c rowlock -n '__rowlock_at "elect"' -l unfair -d 'Grant the free lock to any request, even before the waiters; stored with the name'
complete -c rowlock -n '__rowlock_at "elect"' -l ttl -x -d 'How long the hold lasts if this machine fails (default 1m); it is renewed while the command runs'
complete -c rowlock -n '__rowlock_at "elect"' -l at-most -x -d 'End the command when it has run for this time, and release the lock. The exit code is then 124'
complete -c rowlock -n '__rowlock_at "elect"' -l kill-after -x -d 'Time from SIGTERM to SIGKILL when the hold cannot be kept, or after --at-most (default 5s, or a quarter of --ttl if less)'
complete -c rowlock -n '__rowlock_at "elect"' -l show-arguments -d 'Show operators the command with its arguments, which are stored in the database; without this, its name alone'
complete -c rowlock -n '__rowlock_at "elect"' -l repeat -d 'When the command has ended or the office was lost, stand by again instead of exiting'
complete -c rowlock -n '__rowlock_at "elect"' -l value -x -d 'What the leader proclaims to observers, such as its address'
complete -c rowlock -n '__rowlock_at "epoch"' -a show -d 'Print the epoch (the default).'
complete -c rowlock -n '__rowlock_at "epoch"' -a raise -d 'Raise the epoch after a restore from a backup, before clients connect.'
complete -c rowlock -n '__rowlock_at "epoch"' -a skew -d 'Show or store the skew: how much later than its expiry any client may kill a lease.'
complete -c rowlock -n '__rowlock_at "epoch"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "epoch raise"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "epoch raise"' -l above -x -d 'The highest token that anybody has seen; all later tokens are higher'
complete -c rowlock -n '__rowlock_at "epoch show"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "epoch skew"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "gc"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "gc"' -l idle -x -d 'Delete locks that nobody has acquired for this long, such as 30d'
complete -c rowlock -n '__rowlock_at "guard"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "guard"' -l hold -x -d 'The id of the hold; default: ROWLOCK_HOLD'
complete -c rowlock -n '__rowlock_at "guard"' -l dialect -x -a 'postgresql mysql mariadb sqlite' -d 'postgresql, mysql, mariadb or sqlite; default: that of --url or ROWLOCK_URL'
complete -c rowlock -n '__rowlock_at "guard"' -s s -l shared -d 'The hold is one of run --shared or run --permits'
complete -c rowlock -n '__rowlock_at "guard"' -l cluster -d 'The database is a Galera cluster, or a MySQL group with several primaries'
complete -c rowlock -n '__rowlock_at "guard"' -l placeholders -x -a 'dollar question percent named' -d 'Print placeholders instead of values'
complete -c rowlock -n '__rowlock_at "history"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "history"' -l limit -x -d 'Show at most the latest N lines (default 50)'
complete -c rowlock -n '__rowlock_at "history"' -l record -x -d 'Record these names: a name, or a prefix and a *'
complete -c rowlock -n '__rowlock_at "history"' -l keep -x -d 'How many lines of each name are kept (default 1000)'
complete -c rowlock -n '__rowlock_at "history"' -l age -x -d 'How long they are kept (default 30d)'
complete -c rowlock -n '__rowlock_at "history"' -l stop -x -d 'Stop recording these names; gc deletes their history'
complete -c rowlock -n '__rowlock_at "history"' -l patterns -d 'List the patterns of the names that are recorded'
complete -c rowlock -n '__rowlock_at "list"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "list"' -l held -d 'Only locks that are held'
complete -c rowlock -n '__rowlock_at "list"' -l waiting -d 'Only locks that somebody waits for'
complete -c rowlock -n '__rowlock_at "list"' -l limit -x -d 'At most this many locks'
complete -c rowlock -n '__rowlock_at "list"' -l sort -x -a 'name age waiters' -d 'name (default), age (longest held first), or waiters (most waiters first)'
complete -c rowlock -n '__rowlock_at "migrate"' -a up -d 'Apply the migrations that are missing.'
complete -c rowlock -n '__rowlock_at "migrate"' -a down -d 'Revert the newest migration. Refused while leases are alive.'
complete -c rowlock -n '__rowlock_at "migrate"' -a status -d 'List the migrations, and which of them are applied.'
complete -c rowlock -n '__rowlock_at "migrate"' -a verify -d 'Compare the database with the schema that this rowlock needs. Exit code 78: they differ.'
complete -c rowlock -n '__rowlock_at "migrate"' -a adopt -d 'Record migrations that another tool has applied.'
complete -c rowlock -n '__rowlock_at "migrate"' -a grants -d 'Print the GRANT statements that a role needs. Connects to no database.'
complete -c rowlock -n '__rowlock_at "migrate"' -a sql -d 'Print the migrations for another tool. Connects to no database.'
complete -c rowlock -n '__rowlock_at "migrate"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "migrate adopt"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "migrate adopt"' -l dry-run -d 'Print what would be done, and do nothing'
complete -c rowlock -n '__rowlock_at "migrate down"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "migrate down"' -l to -x -d 'Down to this version; default: one step'
complete -c rowlock -n '__rowlock_at "migrate down"' -l dry-run -d 'Print what would be done, and do nothing'
complete -c rowlock -n '__rowlock_at "migrate down"' -l destroy-tokens -d 'Allow version 0. All tokens start again, and old tokens may be mistaken for new ones'
complete -c rowlock -n '__rowlock_at "migrate grants"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "migrate grants"' -l dialect -x -a 'postgresql mysql mariadb sqlite' -d 'postgresql, mysql, mariadb or sqlite'
complete -c rowlock -n '__rowlock_at "migrate grants"' -l role -x -d 'The role; on MariaDB and MySQL a user may have a host: app@10.0.0.%'
complete -c rowlock -n '__rowlock_at "migrate grants"' -l as -x -a 'run observe operate migrate write' -d 'What the role may do'
complete -c rowlock -n '__rowlock_at "migrate sql"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "migrate sql"' -l dialect -x -a 'postgresql mysql mariadb sqlite' -d 'postgresql, mysql, mariadb or sqlite'
complete -c rowlock -n '__rowlock_at "migrate sql"' -l format -x -a 'plain flyway golang-migrate goose dbmate liquibase' -d 'The names and marks of the files'
complete -c rowlock -n '__rowlock_at "migrate sql"' -l start-version -x -d 'The version of the first new file; default: after the newest in the folder'
complete -c rowlock -n '__rowlock_at "migrate sql"' -l timestamp -d 'Use a time as the version of new files: YYYYMMDDhhmmss'
complete -c rowlock -n '__rowlock_at "migrate sql"' -l out -x -d 'Write new files into this folder and keep existing ones; default: print the up files'
complete -c rowlock -n '__rowlock_at "migrate status"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "migrate up"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "migrate up"' -l to -x -d 'Up to this version'
complete -c rowlock -n '__rowlock_at "migrate up"' -l dry-run -d 'Print what would be done, and do nothing'
complete -c rowlock -n '__rowlock_at "migrate verify"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "queue"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "queue"' -l cycles -d 'Show waiters that wait for each other\'s locks, over all names'
complete -c rowlock -n '__rowlock_at "release"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "release"' -l receipt -x -d 'Release this hold of acquire; -: read it from standard input'
complete -c rowlock -n '__rowlock_at "release"' -l hold -x -d 'Release only this hold'
complete -c rowlock -n '__rowlock_at "release"' -l force -d 'Confirm that the holders lose the lock, even if they are at work'
complete -c rowlock -n '__rowlock_at "release"' -l ask -d 'Request that the holders release it, and wait for them'
complete -c rowlock -n '__rowlock_at "release"' -l reason -x -d 'The reason that the holders see'
complete -c rowlock -n '__rowlock_at "release"' -l within -x -d 'How long to wait for the holders (default 30s)'
complete -c rowlock -n '__rowlock_at "release"' -l then-force -d 'Release it by force if it is still held after --within'
complete -c rowlock -n '__rowlock_at "renew"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "renew"' -l ttl -x -d 'Change the ttl; prints a new receipt'
complete -c rowlock -n '__rowlock_at "run"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "run"' -s w -l wait -x -d 'Give up after this time, such as 30s; 0: do not wait'
complete -c rowlock -n '__rowlock_at "run"' -s n -l no-wait -d 'The same as --wait 0'
complete -c rowlock -n '__rowlock_at "run"' -s E -l conflict-exit-code -x -d 'Exit code for busy, instead of 75'
complete -c rowlock -n '__rowlock_at "run"' -l delay -x -d 'How long the lock rests after its holder was lost (default 0); stored with the name'
complete -c rowlock -n '__rowlock_at "run"' -l unfair -d 'Grant the free lock to any request, even before the waiters; stored with the name'
complete -c rowlock -n '__rowlock_at "run"' -s s -l shared -d 'Take the lock as a reader: together with other readers, but not with a writer'
complete -c rowlock -n '__rowlock_at "run"' -s x -l exclusive -d 'Take the lock as a writer: alone; readers of this name use --shared'
complete -c rowlock -n '__rowlock_at "run"' -l permits -x -d 'How many permits to take (default 1)'
complete -c rowlock -n '__rowlock_at "run"' -l capacity -x -d 'How many permits the lock has; all users of the name must say the same number'
complete -c rowlock -n '__rowlock_at "run"' -l data -x -d 'A text that others see beside the hold, such as "deploy 4711"'
complete -c rowlock -n '__rowlock_at "run"' -l ttl -x -d 'How long the hold lasts if this machine fails (default 1m); it is renewed while the command runs'
complete -c rowlock -n '__rowlock_at "run"' -l at-most -x -d 'End the command when it has run for this time, and release the lock. The exit code is then 124'
complete -c rowlock -n '__rowlock_at "run"' -l kill-after -x -d 'Time from SIGTERM to SIGKILL when the hold cannot be kept, or after --at-most (default 5s, or a quarter of --ttl if less)'
complete -c rowlock -n '__rowlock_at "run"' -l show-arguments -d 'Show operators the command with its arguments, which are stored in the database; without this, its name alone'
complete -c rowlock -n '__rowlock_at "run"' -l min-hold -x -d 'Keep the lock at least this long, even if the command ends sooner'
complete -c rowlock -n '__rowlock_at "run"' -l yield -d 'Send SIGTERM to the command when somebody requests the lock\'s release'
complete -c rowlock -n '__rowlock_at "serve"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "serve"' -l listen -x -d 'IP address and port at which to listen (default 127.0.0.1:8600)'
complete -c rowlock -n '__rowlock_at "serve"' -l host -x -d 'Also answer requests for this name, such as that of a proxy'
complete -c rowlock -n '__rowlock_at "serve"' -l tokens -x -d 'The file of the tokens that clients need; without it clients can only read'
complete -c rowlock -n '__rowlock_at "serve"' -l new-token -x -d 'Print a new token with these roles (read, lock, operate) and its line for the file'
complete -c rowlock -n '__rowlock_at "serve"' -l drain -x -d 'How long open requests have to finish at the end (default 10s)'
complete -c rowlock -n '__rowlock_at "serve"' -l idle -x -d 'Close connections without a request after this time (default 30s)'
complete -c rowlock -n '__rowlock_at "serve"' -l connections -x -d 'At most this many connections (default 4096)'
complete -c rowlock -n '__rowlock_at "serve"' -l rate -x -d 'Requests a second from one address (default 100; 0: any number)'
complete -c rowlock -n '__rowlock_at "serve"' -l sweep-every -x -d 'Kill expired leases and free what they held this often (default 30s; 0: never)'
complete -c rowlock -n '__rowlock_at "serve"' -l gc-idle -x -d 'Delete free locks that nobody has used for this time (default: never)'
complete -c rowlock -n '__rowlock_at "serve"' -l election -x -d 'The election that decides which of several processes sweeps (default rowlock/serve)'
complete -c rowlock -n '__rowlock_at "serve"' -l metrics-every -x -d 'Read the locks for /metrics this often (default 15s, which is the least; 0: no metrics)'
complete -c rowlock -n '__rowlock_at "serve"' -l metrics-names -x -d 'Also show metrics of each lock whose name matches; may be repeated'
complete -c rowlock -n '__rowlock_at "serve"' -l no-dashboard -d 'Leave out the pages at / and the API beneath them'
complete -c rowlock -n '__rowlock_at "show"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "sweep"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "watch"' -s h -l help -d 'Print this help message and exit'
complete -c rowlock -n '__rowlock_at "watch"' -l held -d 'Only locks that are held'
complete -c rowlock -n '__rowlock_at "watch"' -l waiting -d 'Only locks that somebody waits for'
complete -c rowlock -n '__rowlock_at "watch"' -l limit -x -d 'At most this many locks'
complete -c rowlock -n '__rowlock_at "watch"' -l sort -x -a 'name age waiters' -d 'name (default), age (longest held first), or waiters (most waiters first)'
complete -c rowlock -n '__rowlock_at "watch"' -l interval -x -d 'Time between two reads (default 2s; at least 100ms)'
# Global options may stand anywhere.
complete -c rowlock -n __rowlock_in_subcommand -l url -x -d 'The database. Default: ROWLOCK_URL, or the file that ROWLOCK_URL_FILE names; use these for passwords'
complete -c rowlock -n __rowlock_in_subcommand -l prefix -x -d 'Prefix of the tables\' names (default rowlock_)'
complete -c rowlock -n __rowlock_in_subcommand -l schema -x -d 'PostgreSQL: the schema of the tables'
complete -c rowlock -n __rowlock_in_subcommand -l listen-url -x -d 'PostgreSQL behind a pooler: the server itself, for wake-ups. Default: ROWLOCK_LISTEN_URL'
complete -c rowlock -n __rowlock_in_subcommand -l application -x -d 'The name that operators see for this holder or waiter (default: rowlock and the command)'
complete -c rowlock -n __rowlock_in_subcommand -l json -d 'Print one JSON array of objects'
complete -c rowlock -n __rowlock_in_subcommand -s q -l quiet -d 'Print nothing on stderr except errors'
complete -c rowlock -n __rowlock_in_subcommand -s v -l verbose -d 'Report on stderr what happens: waits, grants, releases, background work'
