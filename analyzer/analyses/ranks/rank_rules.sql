-- Which ranks of a job differ from the others, and in what: what leaktide ranks finds, from the same
-- files. Numbers and measures come from rank_rules.def; docs/ranks.md says the rules in words.
-- Who counts: of a process that is there twice, the first folder.
{step rank_files}
{ranks}
{end}
{step rank_rows}
SELECT * FROM (
  SELECT r.*, row_number() OVER (PARTITION BY process_key ORDER BY folder) AS copy FROM rank_files r
) t WHERE copy = 1
{end}
{step processes}
SELECT process_key, folder, name, coalesce(host, '') AS host,
  CASE WHEN rank >= 0 AND rank < 2147483647 THEN rank ELSE -1 END AS number,
  coalesce(start_realtime_ns, 0) AS start_ns, coalesce(start_realtime_ns, 0) + duration_ns AS end_ns, exit_status,
  CASE WHEN is_complete <> 0 AND source_kind = '{TELLS_ENDS}' AND coalesce(exit_status, 1) <> 0
    AND start_realtime_ns > 0 THEN 1 ELSE 0 END AS is_dead, step_count, {pp} AS pp, {ep} AS ep
FROM rank_rows
{end}
{step ledger_rows}
SELECT t.process_key, t.pool, coalesce(t.device, -1) AS device, t.is_memory, t.peak_bytes,
  coalesce(t.outside_peak_bytes, t.seen_peak_bytes) AS seen_peak_bytes,
  coalesce(t.growth_bytes_per_step, 0) AS growth_bytes_per_step,
  CASE WHEN t.device IS NULL THEN 0 ELSE 1 END AS is_device
FROM ({ledgers}) t JOIN processes p ON t.process_key = p.process_key AND t.folder = p.folder
{end}
-- Of several processes with the number of a rank, the newest of those that hold half as much as the largest.
{step held}
SELECT p.process_key, p.folder, p.number, p.start_ns, coalesce(h.bytes, 0) AS bytes,
  max(coalesce(h.bytes, 0)) OVER (PARTITION BY p.number) AS most_bytes
FROM processes p LEFT JOIN (
  SELECT process_key, sum(seen_peak_bytes) AS bytes FROM ledger_rows
  WHERE is_memory <> 0 AND is_device = (SELECT max(is_device) FROM ledger_rows) GROUP BY process_key
) h ON p.process_key = h.process_key
{end}
{step numbered}
SELECT process_key FROM (
  SELECT process_key, row_number() OVER (PARTITION BY number ORDER BY start_ns DESC, folder, process_key) AS place
  FROM held WHERE number >= 0 AND 2 * bytes + 2 > most_bytes
) t WHERE place = 1
{end}
{step counted}
SELECT p.*, row_number() OVER (ORDER BY p.number, p.folder, p.process_key) AS place
FROM processes p LEFT JOIN numbered n ON p.process_key = n.process_key
WHERE n.process_key IS NOT NULL OR (p.number < 0 AND (SELECT count(*) FROM numbered) < 2)
{end}
-- The pool that holds most, and of each rank its ledger with the highest peak.
{step candidates}
SELECT l.* FROM ledger_rows l JOIN counted c ON l.process_key = c.process_key
WHERE l.is_memory <> 0 AND l.seen_peak_bytes > 0
{end}
{step comparable}
SELECT * FROM candidates WHERE is_device = (SELECT max(is_device) FROM candidates)
{end}
{step widest}
SELECT pool FROM comparable GROUP BY pool ORDER BY sum(seen_peak_bytes) DESC, pool LIMIT 1
{end}
{step chosen}
SELECT * FROM (
  SELECT l.*, row_number() OVER (PARTITION BY process_key ORDER BY seen_peak_bytes DESC, device) AS choice
  FROM comparable l WHERE pool = (SELECT pool FROM widest)
) t WHERE choice = 1
{end}
{step job}
SELECT c.*, l.pool, l.device, l.peak_bytes, l.seen_peak_bytes, l.growth_bytes_per_step,
  CASE WHEN l.process_key IS NULL THEN 0 ELSE 1 END AS is_compared
FROM counted c LEFT JOIN chosen l ON c.process_key = l.process_key
{end}
-- Peers: of one stage and expert group, or of one stage, or all.
{step experts}
SELECT pp, ep, sum(is_compared) AS size FROM job GROUP BY pp, ep
{end}
{step stages}
SELECT pp, sum(is_compared) AS size FROM job GROUP BY pp
{end}
{step layout}
SELECT (SELECT count(*) FROM stages) > 1 AS has_stages,
  (SELECT count(*) FROM experts) > 1
    AND (SELECT count(*) FROM experts WHERE size > 0 AND size < {PEERS_LEAST}) = 0 AS by_expert,
  (SELECT count(*) FROM stages) > 1
    AND (SELECT count(*) FROM stages WHERE size > 0 AND size < {PEERS_LEAST}) = 0 AS by_stage
{end}
{step compared}
SELECT j.*, CASE WHEN by_expert OR by_stage THEN pp ELSE -1 END AS stage,
  CASE WHEN by_expert THEN ep ELSE -1 END AS expert
FROM job j CROSS JOIN layout WHERE is_compared = 1 AND (SELECT sum(is_compared) FROM job) > 1
{end}
{step sizes}
SELECT stage, expert, count(*) AS peers FROM compared GROUP BY stage, expert
{end}
-- Measures. A rank without a name has 0 of it: so many rows of 0 as are missing count for the medians.
{step measured}
{measures}
{end}
{step present}
SELECT v.measure, v.name, v.least, v.counts_less, c.stage, c.expert, c.process_key, v.value
FROM measured v JOIN compared c ON v.process_key = c.process_key
{end}
{step absent}
SELECT p.measure, p.name, p.stage, p.expert, max(s.peers) - count(*) AS weight, max(s.peers) AS peers
FROM present p JOIN sizes s ON p.stage = s.stage AND p.expert = s.expert
GROUP BY p.measure, p.name, p.stage, p.expert
{end}
{step medians}
SELECT measure, name, stage, expert, min(value) AS median FROM (
  SELECT v.*, a.peers, sum(v.weight) OVER (PARTITION BY v.measure, v.name, v.stage, v.expert
                                           ORDER BY v.value ROWS UNBOUNDED PRECEDING) AS reached
  FROM (
    SELECT measure, name, stage, expert, value, 1 AS weight FROM present
    UNION ALL SELECT measure, name, stage, expert, 0, weight FROM absent
  ) v JOIN absent a ON v.measure = a.measure AND v.name = a.name AND v.stage = a.stage AND v.expert = a.expert
) t WHERE 2 * reached >= peers GROUP BY measure, name, stage, expert
{end}
{step gaps}
SELECT p.*, m.median, abs(p.value - m.median) AS gap
FROM present p JOIN medians m
  ON p.measure = m.measure AND p.name = m.name AND p.stage = m.stage AND p.expert = m.expert
{end}
{step spreads}
SELECT measure, name, stage, expert, min(gap) AS spread FROM (
  SELECT v.*, a.peers, sum(v.weight) OVER (PARTITION BY v.measure, v.name, v.stage, v.expert
                                           ORDER BY v.gap ROWS UNBOUNDED PRECEDING) AS reached
  FROM (
    SELECT measure, name, stage, expert, gap, 1 AS weight FROM gaps
    UNION ALL
    SELECT a.measure, a.name, a.stage, a.expert, m.median, a.weight FROM absent a JOIN medians m
      ON a.measure = m.measure AND a.name = m.name AND a.stage = m.stage AND a.expert = m.expert
  ) v JOIN absent a ON v.measure = a.measure AND v.name = a.name AND v.stage = a.stage AND v.expert = a.expert
) t WHERE 2 * reached >= peers GROUP BY measure, name, stage, expert
{end}
{step differences}
SELECT g.*, c.place AS rank_place
FROM gaps g
JOIN absent a ON g.measure = a.measure AND g.name = a.name AND g.stage = a.stage AND g.expert = a.expert
JOIN spreads s ON g.measure = s.measure AND g.name = s.name AND g.stage = s.stage AND g.expert = s.expert
JOIN compared c ON g.process_key = c.process_key
CROSS JOIN layout y
WHERE (g.measure <> '{SITE}' OR y.by_expert OR y.by_stage OR NOT y.has_stages) AND g.gap >= g.least AND {SHARE} * g.gap > g.median AND (g.counts_less = 1 OR g.value >= g.median)
  AND (a.peers < {SPREAD_PEERS_LEAST} OR g.gap >= {SPREAD_TIMES} * s.spread)
{end}
-- Leaks: a site of a pool is one, on all its ranks.
{step leak_rows}
SELECT coalesce(t.pool, '') AS pool, coalesce(t.site, '') AS site, t.first_step, t.bytes,
  coalesce(t.growth_bytes_per_step, 0) AS growth, j.place, j.process_key
FROM ({findings}) t JOIN job j ON t.process_key = j.process_key AND t.folder = j.folder WHERE t.kind = 'leak'
{end}
{step leak_growths}
SELECT pool, site, growth FROM (
  SELECT pool, site, growth, row_number() OVER (PARTITION BY pool, site ORDER BY growth) AS place,
    count(*) OVER (PARTITION BY pool, site) AS size
  FROM leak_rows WHERE growth > 0
) t WHERE 2 * place IN (size, size + 1)
{end}
{step leaks}
SELECT l.pool, l.site, count(DISTINCT l.process_key) AS rank_count, max(coalesce(l.bytes, 0)) AS bytes,
  min(l.first_step) AS first_step, min(l.place) AS first_place,
  CASE WHEN l.pool = (SELECT pool FROM widest) THEN 0 ELSE 1 END AS is_other
FROM leak_rows l GROUP BY l.pool, l.site
{end}
-- Requests that were refused.
{step refused}
SELECT coalesce(t.pool, '') AS pool, t.step, coalesce(t.live_bytes, 0) AS bytes, j.process_key,
  row_number() OVER (ORDER BY coalesce(t.realtime_ns, t.time_ns, 0), j.place) AS place
FROM ({failures}) t JOIN job j ON t.process_key = j.process_key AND t.folder = j.folder
{end}
-- Who died first: longer alone than it took the others, where no rank tells a status.
{step deaths}
SELECT process_key, place AS rank_place, step_count, end_ns, row_number() OVER (ORDER BY end_ns, place) AS death,
  count(*) OVER () AS size, max(end_ns) OVER () AS last_ns
FROM job WHERE is_dead = 1 AND number >= 0
{end}
{step first_death}
SELECT d.process_key, d.step_count, d.size FROM deaths d LEFT JOIN deaths n ON n.death = 2
WHERE d.death = 1 AND (SELECT count(*) FROM job) > 1
  AND ((SELECT count(exit_status) FROM job) > 0
    OR (n.end_ns - d.end_ns >= {DEATH_LEAST_NS} AND n.end_ns - d.end_ns >= d.last_ns - n.end_ns))
{end}
-- Ranks that ended early.
{step middle_steps}
SELECT step_count AS steps FROM (
  SELECT step_count, row_number() OVER (ORDER BY step_count) AS place, count(*) OVER () AS size FROM job
) t WHERE 2 * place IN (size, size + 1) AND size >= {PEERS_LEAST}
{end}
{step stops}
SELECT j.process_key, j.place, j.step_count, count(*) OVER () AS size FROM job j CROSS JOIN middle_steps m
LEFT JOIN first_death f ON j.process_key = f.process_key
WHERE f.process_key IS NULL AND j.step_count > 0 AND j.step_count + {STOP_LEAST} <= m.steps AND {STOP_SHARE} * (m.steps - j.step_count) > m.steps
{end}
-- Hosts whose ranks nearly all peak away from their peers.
{step host_ranks}
SELECT c.host, c.peak_bytes - m.median AS gap, m.median,
  row_number() OVER (PARTITION BY c.host ORDER BY c.peak_bytes - m.median) AS place, count(*) OVER (PARTITION BY c.host) AS size
FROM compared c JOIN medians m
  ON m.measure = '{PEAK}' AND m.stage = c.stage AND m.expert = c.expert WHERE c.host <> ''
{end}
{step host_middles}
SELECT host, size, gap FROM host_ranks WHERE 2 * place IN (size, size + 1)
{end}
{step host_chance}
SELECT chance FROM (
  SELECT abs(gap) AS chance, row_number() OVER (ORDER BY abs(gap)) AS place, count(*) OVER () AS size FROM host_middles
) t WHERE 2 * place IN (size, size + 1) AND size >= {HOSTS_LEAST}
{end}
{step hosts}
SELECT h.host, h.size, abs(h.gap) AS gap, d.differing FROM host_middles h
JOIN (
  SELECT r.host, count(*) AS differing FROM host_ranks r JOIN host_middles o ON r.host = o.host
  WHERE (r.gap > 0) = (o.gap > 0) AND abs(r.gap) >= {LEAST_BYTES} AND {HOST_SHARE} * abs(r.gap) > r.median GROUP BY r.host
) d ON h.host = d.host
CROSS JOIN host_chance c
WHERE h.size > 1 AND abs(h.gap) >= {HOST_SPREADS} * c.chance AND 100 * d.differing >= {HOST_PERCENT} * h.size
{end}
-- Of each rank its first difference, the site with most of it, and since which step.
{step firsts}
SELECT * FROM (
  SELECT d.*, row_number() OVER (PARTITION BY d.process_key
           ORDER BY CASE WHEN d.measure = '{PEAK}' THEN 0 ELSE 1 END, d.gap DESC, d.measure_place, d.name) AS choice
  FROM (
    SELECT d.*, {measure_place} AS measure_place FROM differences d
    JOIN compared c ON d.process_key = c.process_key
    LEFT JOIN hosts h ON c.host = h.host
    LEFT JOIN (SELECT DISTINCT process_key FROM leak_rows) l ON d.process_key = l.process_key
    WHERE h.host IS NULL AND (d.measure <> '{GROWTH}' OR l.process_key IS NULL)
  ) d
) t WHERE choice = 1
{end}
{step told}
SELECT * FROM (
  SELECT f.*, row_number() OVER (ORDER BY CASE WHEN f.measure = '{PEAK}' THEN 0 ELSE 1 END, f.gap DESC, f.rank_place) AS place
  FROM firsts f
) t WHERE place <= {FINDINGS_MOST}
{end}
{step told_sites}
SELECT process_key, name FROM (
  SELECT process_key, name, row_number() OVER (PARTITION BY process_key ORDER BY gap DESC, name) AS choice
  FROM differences WHERE measure = '{SITE}'
) t WHERE choice = 1
{end}
{step step_rows}
SELECT c.process_key, c.stage, c.expert, t.step, t.end_bytes
FROM ({steps}) t JOIN compared c ON t.process_key = c.process_key AND t.folder = c.folder
  AND t.pool = c.pool AND coalesce(t.device, -1) = c.device
JOIN (SELECT DISTINCT stage, expert FROM told) g ON c.stage = g.stage AND c.expert = g.expert
{end}
{step step_medians}
SELECT stage, expert, step, end_bytes AS median FROM (
  SELECT stage, expert, step, end_bytes, row_number() OVER (PARTITION BY stage, expert, step ORDER BY end_bytes) AS place,
    count(*) OVER (PARTITION BY stage, expert, step) AS size
  FROM step_rows
) t WHERE 2 * place IN (size, size + 1) AND size > 1
{end}
{step since}
SELECT r.process_key, min(r.step) AS step
FROM step_rows r JOIN told f ON r.process_key = f.process_key
JOIN step_medians m ON r.stage = m.stage AND r.expert = m.expert AND r.step = m.step
WHERE abs(r.end_bytes - m.median) >= {LEAST_BYTES} AND {SHARE} * abs(r.end_bytes - m.median) > m.median
GROUP BY r.process_key
{end}
-- Pipeline stages whose peaks differ.
{step stage_peaks}
SELECT pp, peak_bytes FROM (
  SELECT pp, peak_bytes, row_number() OVER (PARTITION BY pp ORDER BY peak_bytes) AS place,
    count(*) OVER (PARTITION BY pp) AS size
  FROM compared WHERE pp >= 0
) t WHERE 2 * place IN (size, size + 1) AND peak_bytes > 0
{end}
{step split}
SELECT highest, CAST((total - total % size) / size AS BIGINT) AS mean
FROM (SELECT max(peak_bytes) AS highest, sum(peak_bytes) AS total, count(*) AS size FROM stage_peaks) t WHERE size > 1
{end}
-- What is said, by cause.
{step answer}
SELECT 1 AS part, place, 'leak' AS cause, CASE WHEN rank_count = 1 THEN process_key END AS process_key, '' AS of_host,
  pool, site, first_step AS step, rank_count, value AS value_bytes, 0 AS peers_bytes
FROM (
  SELECT l.*, j.process_key, coalesce(g.growth, l.bytes) AS value,
    row_number() OVER (ORDER BY is_other, l.bytes * rank_count DESC, l.site, l.pool) AS place
  FROM leaks l JOIN job j ON j.place = l.first_place
  LEFT JOIN leak_growths g ON l.pool = g.pool AND l.site = g.site
) t
UNION ALL
SELECT 2, 1, 'refused', process_key, '', pool, NULL, step, (SELECT count(DISTINCT process_key) FROM refused), bytes, 0
FROM refused WHERE place = 1
UNION ALL
SELECT 3, 1, 'died_first', f.process_key, '', NULL, NULL, nullif(f.step_count, 0), f.size, coalesce(c.peak_bytes, 0), coalesce(m.median, 0)
FROM first_death f LEFT JOIN compared c ON f.process_key = c.process_key
LEFT JOIN medians m ON m.measure = '{PEAK}' AND m.stage = c.stage AND m.expert = c.expert
LEFT JOIN refused r ON r.process_key = f.process_key AND r.place = 1 WHERE r.process_key IS NULL
UNION ALL
SELECT 4, place, 'ended_early', process_key, '', NULL, NULL, step_count, size, 0, 0
FROM (SELECT process_key, step_count, size, row_number() OVER (ORDER BY place) AS place FROM stops) t
UNION ALL
SELECT 5, row_number() OVER (ORDER BY gap DESC, host), 'one_host', NULL, host, NULL, NULL, NULL, differing, gap, 0 FROM hosts
UNION ALL
SELECT 6, f.place, 'rank', f.process_key, c.host, NULL, s.name, w.step, 1, f.value, f.median
FROM told f JOIN compared c ON f.process_key = c.process_key
LEFT JOIN told_sites s ON f.process_key = s.process_key LEFT JOIN since w ON f.process_key = w.process_key
UNION ALL
SELECT 7, 1, 'stages', NULL, '', NULL, NULL, NULL, (SELECT count(*) FROM job), highest, mean
FROM split WHERE {STAGE_SHARE} * (highest - mean) > highest AND highest - mean >= {LEAST_BYTES}
{end}
SELECT a.cause,
  CASE WHEN j.process_key IS NULL THEN NULL
    ELSE CASE WHEN j.number >= 0 THEN 'rank ' || CAST(j.number AS STRING) ELSE j.name END
      || CASE WHEN j.host <> '' AND o.host_count > 1 THEN ' on ' || j.host ELSE '' END END AS rank,
  CASE WHEN a.of_host <> '' AND o.host_count > 1 THEN a.of_host END AS host_name,
  a.pool, a.site, CAST(a.step AS BIGINT) AS step, CAST(a.rank_count AS BIGINT) AS rank_count,
  CAST(a.value_bytes AS BIGINT) AS value_bytes,
  CASE WHEN a.peers_bytes > 0 THEN CAST(a.peers_bytes AS BIGINT) END AS peers_bytes
FROM answer a LEFT JOIN job j ON a.process_key = j.process_key
CROSS JOIN (SELECT count(DISTINCT host) AS host_count FROM job) o
WHERE a.place <= {FINDINGS_MOST}
ORDER BY a.part, a.place
{done}
