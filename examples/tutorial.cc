// The program of docs/tutorial.md: writes and kills itself, recovers, backs up.
//
//   tutorial write|recover FOLDER
//   tutorial backup FOLDER BACKUPS RESTORED

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>

#include "miodb/backup.h"
#include "miodb/db.h"
#include "miodb/write_batch.h"

namespace {

void Check(const miodb::Status& s) {
  if (s.ok()) return;
  std::cerr << s.ToString() << "\n";
  exit(1);
}

std::unique_ptr<miodb::DB> Open(const std::string& folder) {
  miodb::Options options;
  options.create_if_missing = true;
  // options.pool_path = "/mnt/pmem/fruit";  // the file of the data; for persistent memory, on a DAX file system
  miodb::DB* db = nullptr;
  Check(miodb::DB::Open(options, folder, &db));
  return std::unique_ptr<miodb::DB>(db);
}

void Show(miodb::DB* db, const miodb::ReadOptions& options) {
  std::unique_ptr<miodb::Iterator> it(db->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::cout << " " << it->key().ToString() << "=" << it->value().ToString();
  }
  Check(it->status());
  std::cout << std::endl;
}

void Write(const std::string& folder) {
  std::unique_ptr<miodb::DB> db = Open(folder);
  miodb::WriteOptions durable;
  durable.sync = true;  // costs nothing on persistent memory, an msync on a disk
  Check(db->Put(durable, "apple", "green"));

  const miodb::Snapshot* snapshot = db->GetSnapshot();
  miodb::WriteBatch batch;  // all of it or nothing
  batch.Put("apple", "red");
  batch.Put("lemon", "yellow");
  Check(db->Write(durable, &batch));

  miodb::ReadOptions before;
  before.snapshot = snapshot;
  std::cout << "at the snapshot:";
  Show(db.get(), before);
  std::cout << "now:";
  Show(db.get(), miodb::ReadOptions());
  db->ReleaseSnapshot(snapshot);

  kill(getpid(), SIGKILL);  // kill -9: no destructor runs, nothing is closed
}

void Recover(const std::string& folder) {
  std::unique_ptr<miodb::DB> db = Open(folder);
  std::string mode;
  db->GetProperty("miodb.persist-mode", &mode);
  std::cout << "persist mode: " << mode << "\nrecovered:";
  Show(db.get(), miodb::ReadOptions());
}

void Backup(const std::string& folder, const std::string& backups, const std::string& restored) {
  std::unique_ptr<miodb::DB> db = Open(folder);
  miodb::BackupInfo made;
  Check(db->CreateBackup(miodb::BackupOptions(), backups, &made));
  Check(db->Delete(miodb::WriteOptions(), "apple"));

  Check(miodb::RestoreBackup(miodb::Options(), miodb::BackupOptions(), backups, made.generation, restored));
  std::cout << "generation " << made.generation << ":";
  Show(Open(restored).get(), miodb::ReadOptions());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "write" && argc == 3) {
    Write(argv[2]);
  } else if (verb == "recover" && argc == 3) {
    Recover(argv[2]);
  } else if (verb == "backup" && argc == 5) {
    Backup(argv[2], argv[3], argv[4]);
  } else {
    std::cerr << "usage: tutorial write|recover FOLDER, tutorial backup FOLDER BACKUPS RESTORED\n";
    return 2;
  }
  return 0;
}
