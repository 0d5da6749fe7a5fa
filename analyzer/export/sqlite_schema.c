/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables, indexes and views of leaktide's own database.
 */
#include "sqlite_schema.h"

const struct sqlite_table_shape sqlite_tables[TABLE_COUNT] = {
    [TABLE_ABOUT] = {"about", 2},
    [TABLE_PROCESSES] = {"processes", 14},
    [TABLE_THREADS] = {"threads", 4},
    [TABLE_LEDGERS] = {"ledgers", 7},
    [TABLE_FRAMES] = {"frames", 7},
    [TABLE_SITES] = {"sites", 6},
    [TABLE_SITE_FRAMES] = {"site_frames", 3},
    [TABLE_OPERATORS] = {"operators", 2},
    [TABLE_OWNERS] = {"owners", 2},
    [TABLE_DRIVER_MODULES] = {"driver_modules", 2},
    [TABLE_STEPS] = {"steps", 7},
    [TABLE_PHASES] = {"phases", 5},
    [TABLE_BLOCKS] = {"blocks", 19},
    [TABLE_RESERVED] = {"reserved", 4},
    [TABLE_SAMPLES] = {"samples", 6},
    [TABLE_EVENTS] = {"events", 9},
    [TABLE_OLDER_FREES] = {"older_frees", 3},
    [TABLE_EVENT_KINDS] = {"event_kinds", 2},
    [TABLE_NOTES] = {"notes", 2},
    [TABLE_ACCOUNTS] = {"accounts", 11},
};

const char sqlite_schema[] =
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE processes (process INTEGER PRIMARY KEY, process_id INTEGER,"
    " parent_process_id INTEGER, rank INTEGER, program TEXT, command_line TEXT, options TEXT,"
    " source TEXT, start_realtime_ns INTEGER, start_ns INTEGER, end_ns INTEGER,"
    " event_count INTEGER, lost_count INTEGER, is_complete INTEGER);"
    "CREATE TABLE threads (thread INTEGER PRIMARY KEY, process INTEGER REFERENCES processes,"
    " thread_id INTEGER, name TEXT);"
    "CREATE TABLE ledgers (ledger INTEGER PRIMARY KEY, name TEXT,"
    " process INTEGER REFERENCES processes, pool TEXT, device INTEGER, kind TEXT,"
    " older_beside_bytes INTEGER);"
    "CREATE TABLE frames (frame INTEGER PRIMARY KEY, function TEXT, file TEXT, line INTEGER,"
    " module TEXT, is_inlined INTEGER, is_plumbing INTEGER);"
    "CREATE TABLE sites (site INTEGER PRIMARY KEY, process INTEGER REFERENCES processes,"
    " name TEXT, stable_id TEXT, address INTEGER, origin INTEGER REFERENCES sites);"
    "CREATE TABLE site_frames (site INTEGER REFERENCES sites, depth INTEGER,"
    " frame INTEGER REFERENCES frames, PRIMARY KEY (site, depth)) WITHOUT ROWID;"
    "CREATE TABLE operators (operator INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE owners (owner INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE driver_modules (driver_module INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE steps (process INTEGER REFERENCES processes, step INTEGER, number INTEGER,"
    " begin_ns INTEGER, end_ns INTEGER, begin_event INTEGER, end_event INTEGER,"
    " PRIMARY KEY (process, step)) WITHOUT ROWID;"
    "CREATE TABLE phases (process INTEGER REFERENCES processes, step INTEGER, phase TEXT,"
    " begin_event INTEGER, end_event INTEGER);"
    "CREATE TABLE blocks (block INTEGER PRIMARY KEY, process INTEGER REFERENCES processes,"
    " ledger INTEGER REFERENCES ledgers, address INTEGER, size_bytes INTEGER, born_ns INTEGER,"
    " freed_ns INTEGER, born_event INTEGER, freed_event INTEGER, born_step INTEGER,"
    " freed_step INTEGER, site INTEGER REFERENCES sites, operator INTEGER REFERENCES operators,"
    " owner INTEGER REFERENCES owners, thread INTEGER REFERENCES threads,"
    " freeing_thread INTEGER REFERENCES threads,"
    " driver_module INTEGER REFERENCES driver_modules, is_older INTEGER,"
    " is_reserved INTEGER);"
    "CREATE TABLE reserved (event INTEGER PRIMARY KEY, time_ns INTEGER,"
    " ledger INTEGER REFERENCES ledgers, bytes INTEGER);"
    "CREATE TABLE samples (event INTEGER PRIMARY KEY, time_ns INTEGER,"
    " process INTEGER REFERENCES processes, device INTEGER, counter TEXT, bytes INTEGER);"
    "CREATE TABLE events (event INTEGER PRIMARY KEY, time_ns INTEGER,"
    " process INTEGER REFERENCES processes, thread INTEGER REFERENCES threads, kind TEXT,"
    " name TEXT, value INTEGER, address INTEGER, ledger INTEGER REFERENCES ledgers);"
    "CREATE TABLE older_frees (ledger INTEGER REFERENCES ledgers, count INTEGER, bytes INTEGER);"
    "CREATE TABLE event_kinds (kind TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;"
    "CREATE TABLE notes (count INTEGER, sentence TEXT);"
    "CREATE TABLE accounts (account INTEGER, process INTEGER REFERENCES processes,"
    " time_ns INTEGER, is_rough INTEGER, part TEXT, name TEXT, resident_bytes INTEGER,"
    " proportional_bytes INTEGER, step INTEGER, late_ns INTEGER, at_exit INTEGER);";

/* An alloc at an address that is alive first ends the old block; a block that was freed before it
 * was seen counts before it goes. */
const char sqlite_indexes[] =
    "CREATE INDEX blocks_by_ledger ON blocks (ledger, born_event);"
    "CREATE INDEX blocks_by_site ON blocks (site);"
    "CREATE INDEX blocks_by_operator ON blocks (operator);"
    "CREATE INDEX blocks_by_freed ON blocks (ledger, freed_event);"
    "CREATE INDEX phases_by_step ON phases (process, step);"
    "CREATE INDEX reserved_by_ledger ON reserved (ledger, event);"
    "CREATE INDEX samples_by_counter ON samples (counter, device, event);"
    "CREATE INDEX events_by_kind ON events (kind, event);"
    "CREATE VIEW named_blocks AS"
    " SELECT blocks.*, ledgers.name AS ledger_name, operators.name AS operator_name,"
    "  owners.name AS owner_name, sites.origin AS origin, COALESCE(sites.name, 'operator ' || "
    "operators.name,"
    "  'owner ' || owners.name, '(unknown)') AS who"
    " FROM blocks JOIN ledgers USING (ledger) LEFT JOIN sites USING (site)"
    " LEFT JOIN operators USING (operator) LEFT JOIN owners USING (owner);"
    "CREATE VIEW changes AS"
    " SELECT ledger, born_event AS event, born_ns AS time_ns, size_bytes AS change_bytes,"
    "  1 AS change_count, block, CASE WHEN freed_event = born_event THEN 0 ELSE 1 END AS place,"
    "  born_step AS step"
    " FROM blocks UNION ALL"
    " SELECT ledger, freed_event, freed_ns, -size_bytes, -1, block,"
    "  CASE WHEN freed_event = born_event THEN 1 ELSE 0 END, freed_step"
    " FROM blocks WHERE freed_event IS NOT NULL;"
    "CREATE VIEW curve AS"
    " SELECT ledger, event, place, time_ns, block, change_bytes,"
    "  SUM(change_bytes) OVER line AS live_bytes, SUM(change_count) OVER line AS live_count, step"
    " FROM changes WINDOW line AS"
    " (PARTITION BY ledger ORDER BY event, place ROWS UNBOUNDED PRECEDING);";
