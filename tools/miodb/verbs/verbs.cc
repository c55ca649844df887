// The table of verbs. Help, man page and completion are written from it and from the options of each command.

#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

constexpr size_t kMany = SIZE_MAX;

constexpr Verb kVerbs[] = {
    {"get", "DATABASE KEY...", 2, kMany, "show the values of keys",
     "Shows the value of a key, or, of several keys, each key with its value behind a tab.", NewGet,
     Verb::Kind::kStore},
    {"put", "DATABASE KEY [VALUE]", 2, 3, "write a value",
     "Sets the value of a key. Without VALUE it is what standard input has, byte by byte. --create makes the database, "
     "and the column family that --column_family names.",
     NewPut, Verb::Kind::kStore},
    {"delete", "DATABASE KEY...", 2, kMany, "remove keys", "Removes keys. One that is not there is no error.",
     NewDelete, Verb::Kind::kStore},
    {"merge", "DATABASE KEY OPERAND", 3, 3, "merge an operand into a value",
     "Merges an operand into the value of a key, by the operator that --merge_operator names.", NewMerge,
     Verb::Kind::kStore},
    {"scan", "DATABASE", 1, 1, "show the records of a range",
     "Shows records in the order of their keys: key, tab, value. The default column family comes first, then the "
     "others "
     "by their names; a record of another family than the default one has the name of its family and a tab in front. "
     "The range is one of each family, --limit counts all of them. A family that is named by --column_family is shown "
     "as a database without families.",
     NewScan, Verb::Kind::kStore},
    {"count", "DATABASE", 1, 1, "count the records of a range",
     "Counts the records of all column families, or of the one that is named, by reading them. The hash is one of all "
     "families, with their names; that of a family which is named is the hash of a database with its records alone. "
     "The property miodb.estimate-num-keys knows about how many there are, at once.",
     NewCount, Verb::Kind::kStore},
    {"stats", "DATABASE", 1, 1, "show what a database has done and holds",
     "Shows levels and counters. Counters begin with the open of a database, so of one that this verb opens the "
     "figures of "
     "its work are those of the open; a program that has it open shows its own by DB::GetProperty.",
     NewStats, Verb::Kind::kStore},
    {"properties", "DATABASE [NAME]...", 1, kMany, "show properties",
     "Shows the properties that are named, or the common ones; with --column_family those that a family has. "
     "miodb/db.h tells what each is.",
     NewProperties, Verb::Kind::kStore},
    {"flush", "DATABASE", 1, 1, "write the memtable into a table", "Writes what is in the log into a table.", NewFlush,
     Verb::Kind::kStore},
    {"compact", "DATABASE", 1, 1, "merge tables and collect garbage",
     "Merges the tables that the range touches into the repository and collects garbage. After Ctrl-C the database is "
     "as "
     "it was, or further. The range is one of each column family, or of the one that is named.",
     NewCompact, Verb::Kind::kStore},
    {"savepoint", "DATABASE create|list|drop [NAME]", 2, 3, "make, list and drop savepoints",
     "Makes a savepoint of what the database has now, or drops one. The list has a line for each, the oldest first: "
     "name, time when it was made, sequence of its newest update, and bytes of the pool that it keeps and the database "
     "needs no more, with tabs between them. get, scan, count and export read one with --savepoint=NAME.",
     NewSavepoint, Verb::Kind::kStore},
    {"checkpoint", "DATABASE DIRECTORY", 2, 2, "write a database as it is into another directory",
     "Makes a database of its own in DIRECTORY, which must not exist, with what DATABASE has: its pool, its SSD tier "
     "and what is in its log, no savepoints. It needs as much space as DATABASE has in use, but that files of an SSD "
     "tier on the same file system are shared. Until it is whole it is called DIRECTORY.tmp. The first Ctrl-C is heard "
     "when it is done; a second one leaves DIRECTORY.tmp, which the next run removes.",
     NewCheckpoint, Verb::Kind::kStore},
    {"backup", "DATABASE FOLDER", 2, 2, "add what a database has to its backups",
     "Adds a generation to the backups in FOLDER, which is made if it is not there: all that DATABASE has, of which "
     "only "
     "what the newest generation does not have is copied. A folder is for one database. Shows the line that the list "
     "of "
     "\"miodb backups\" has for the generation. After Ctrl-C, or a crash, the next run goes on with what was copied.",
     NewBackup, Verb::Kind::kStore},
    {"restore", "FOLDER DIRECTORY", 2, 2, "make a database of a backup",
     "Makes a database in DIRECTORY, which must not exist, of a generation in FOLDER, and verifies it on the way. "
     "Until it "
     "is whole it is called DIRECTORY.tmp; after Ctrl-C nothing is left.",
     NewRestore, Verb::Kind::kOther},
    {"backups", "FOLDER list|verify|delete [GENERATION]", 2, 3, "list, verify and delete backups",
     "The list has a line for each generation, the oldest first: its number, time when it was made, bytes that it has, "
     "and bytes that were written for it, with tabs between them. verify reads one generation, or all, and "
     "compares checksums up to the first damage. delete removes one, and gives back what no other one has.\n"
     "The exit code is 1 if verify finds damage.",
     NewBackups, Verb::Kind::kOther},
    {"follow", "SOURCE COPY", 2, 2, "keep a copy of a database up to date while it is written to",
     "Writes to COPY what was written to SOURCE since COPY was made: a checkpoint of it, a backup that was restored, "
     "or "
     "with --create an empty database, where SOURCE still has all of its log. SOURCE may be open in another process, "
     "and is not changed. Goes on until Ctrl-C, or with --once until COPY has what SOURCE has. The next run goes on by "
     "itself; COPY must not be written to by anybody else, and is refused if it was, or if it is a copy of something "
     "else. Column families are made and dropped as in SOURCE.\n"
     "How far back SOURCE has its log says the option keep_log_bytes of the program that writes to it; other verbs "
     "leave that log as it is. --option is about COPY, which keeps no log unless --option says so.",
     NewFollow, Verb::Kind::kOther},
    {"check", "DATABASE", 1, 1, "verify a closed database",
     "Verifies a database that nobody has open: every checksum, the order and number of entries, live bytes, and the "
     "account of its space. Changes nothing. DATABASE may also be its pool file.\n"
     "The exit code is 0 for an undamaged database, 1 for a damaged one and 2 for what cannot be checked.",
     NewCheck, Verb::Kind::kClosed},
    {"dump", "DATABASE", 1, 1, "show what lies in the pool of a closed database",
     "Shows what lies in the pool of a database that nobody has open. Changes nothing. DATABASE may also be its pool "
     "file. Without --header, --manifest, --tables, --table, --file and --log all but the entries of tables is shown. "
     "Keys "
     "are in double quotes; bytes that are not printable show as \\xNN.\n"
     "The exit code is 0, 1 if damage was met, and 2 for what cannot be shown.",
     NewDump, Verb::Kind::kClosed},
    {"move", "DATABASE", 1, 1, "tell a closed database where its parts were moved to",
     "Tells a database that nobody has open where its parts are, after you have moved them: pool_path, nvm_regions, "
     "wal_dir and ssd_path of the opens to come. Moves nothing itself. Looks at the parts: their ids have to be those "
     "that "
     "the file STORE has, and the pool must not be older than the files of its SSD tier. What is not named is where it "
     "was. Parts that were moved together with the database's directory, inside of it, need none of this.\n"
     "The exit code is 0 if it is done, 1 if a part is not the database's and 2 if it cannot be done.",
     NewMove, Verb::Kind::kClosed},
    {"repair", "DATABASE", 1, 1, "make a new database of what can be read of a damaged one",
     "For a database that cannot be opened because it is damaged. What can be read is written into a new pool, which "
     "takes "
     "the old one's place; the old one stays beside it under another name, until you remove it. The file LOST in the "
     "database's directory has a line for everything that was left out. There must be room for both.",
     NewRepair, Verb::Kind::kClosed},
    {"import", "DATABASE SOURCE", 2, 2, "make a database of LevelDB's, RocksDB's or lines of JSON",
     "Makes a new database of what SOURCE holds: the directory of a LevelDB or RocksDB database that nobody has open, "
     "read by their own library, or a file of lines of JSON as export writes them; \"-\" is standard input. SOURCE is "
     "not changed. The database is made under the name DATABASE.unfinished, read back, compared, and gets its name in "
     "the "
     "end, so there is never half of one; where parts of it lie elsewhere, by --option, what was made is removed if "
     "something fails. With --into the records go into a database that is there.\n"
     "Column families keep their names. With --column_family the records of this one family of SOURCE go into the "
     "default one.\n"
     "Of a RocksDB database it is shown which of its options have a counterpart here.",
     NewImport, Verb::Kind::kOther},
    {"export", "DATABASE", 1, 1, "write records as lines of JSON, or as a LevelDB database",
     "Writes records to standard output, or where --output says, which must not exist. A line is an object with the "
     "members \"key\" and \"value\", or \"key_hex\" and \"value_hex\" of bytes that are not UTF-8. Lines of another "
     "column family than the default one have the member \"column_family\" besides, and a line with that member alone "
     "comes before them. A family that --column_family names is written as a database without families; LevelDB has "
     "none, so of a database with several one has to be named. Neither has lifetimes: an export ends at a record that "
     "expires, unless --lifetimes=drop lets such records stay, which also saves the look at each.",
     NewExport, Verb::Kind::kStore},
    {"shell", "DATABASE", 1, 1, "work with a database line by line",
     "Reads lines, each a verb with its options and operands, without DATABASE: get, put, delete, merge, scan, count, "
     "stats, properties, flush, compact, savepoint, checkpoint, backup, export; help and quit besides. Words may be in "
     "quotes. "
     "On a terminal the lines can be edited, with history and completion. Ctrl-C ends what a line does there, and "
     "Ctrl-D the shell. Elsewhere Ctrl-C ends the shell with 130, and the first line that fails ends it with 2.",
     NewShell, Verb::Kind::kOther},
    {"bench", "DIRECTORY", 1, 1, "measure puts, gets and a scan in a directory",
     "Makes a database of its own below DIRECTORY, puts records with random keys, gets them, scans them and removes "
     "it. "
     "A first look at a machine and a medium; db_bench has everything else.",
     NewBench, Verb::Kind::kOther},
};

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

}  // namespace miodb::tool
