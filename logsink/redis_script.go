package logsink

import "github.com/redis/go-redis/v9"

// What the keys of a session hold (session is a hash of both ids):
//
//	session  hash: m = "since anchored last epoch" (µs, µs, µs, number); aN = the
//	         anchor of epoch N as JSON (redis_opener.go); xN if epoch N has
//	         ended; id = the session's ids as JSON, if it has no anchor
//	pages    stream: entry TICK-0 has l = request, response and header records as
//	         JSON lines
//	threads  hash: thread = "page of newest request, page of its header, header
//	         id"; H and thread = "page of newest header, header id"
//	seen     hash: record = page, for a day; seen_before holds the ones before
//
// and of a bucket: see the constants in redis_key.go. An entry of index is
// k = session, n = records, t = time of the newest (µs), b = bytes of lines, d =
// digests of the blobs that they name.

// scriptHead begins all scripts. Those whose replies matter return {KEYS[1], …}:
// see answered.
const scriptHead = `
local function meta(session)
  local m = redis.call('HGET', session, 'm')
  if not m then return {0, 0, 0, 0} end
  local r = {}
  for w in string.gmatch(m, '%S+') do r[#r+1] = tonumber(w) end
  return r
end
local function put(session, m)
  redis.call('HSET', session, 'm', string.format('%.0f %.0f %.0f %.0f', m[1], m[2], m[3], m[4]))
end
local function now()
  local t = redis.call('TIME')
  return math.floor((tonumber(t[1]) - 1704067200) * 125000 + tonumber(t[2]) / 8)
end
local function tick(clock)
  local v = math.max(now(), 1 + tonumber(redis.call('HGET', clock, 'v') or '0'))
  v = string.format('%.0f', v)
  redis.call('HSET', clock, 'v', v)
  return v
end
local function hset(key, values)
  local list = {}
  for f, v in pairs(values) do list[#list+1] = f; list[#list+1] = v end
  if #list > 0 then redis.call('HSET', key, unpack(list)) end
end
local function part(all, ends, i)
  local from = i > 1 and struct.unpack('>I4', ends, 4 * i - 7) or 0
  return string.sub(all, from + 1, (struct.unpack('>I4', ends, 4 * i - 3)))
end
local function threads(key)
  local changed = {}
  local function get(field) return changed[field] or redis.call('HGET', key, field) or '' end
  return {
    note = function(kind, thread, header, v)
      if kind == 'h' then changed['H' .. thread] = v .. ' ' .. header end
      if kind ~= 'q' then return end
      local at = '0'
      local newest, hid = string.match(get('H' .. thread), '^(%d+) (.*)$')
      if hid == header then at = newest
      else
        local page, id = string.match(get(thread), '^%d+ (%d+) (.*)$')
        if id == header then at = page end
      end
      changed[thread] = v .. ' ' .. at .. ' ' .. header
    end,
    keep = function() hset(key, changed) end,
  }
end
-- a user that may not publish ends epochs all the same
local function finish(session, ended, clock, epoch, tenant, id)
  if redis.call('HSETNX', session, 'x' .. epoch, '1') == 1 then
    redis.call('XADD', ended, tick(clock) .. '-0', 't', tenant, 's', id, 'e', epoch)
    redis.pcall('PUBLISH', 'preface:ended', '')
  end
end
`

func script(body string) *redis.Script { return redis.NewScript(scriptHead + body) }

// freezeScript stores an anchor if its epoch has none, or returns the one that is
// there.
//
// KEYS session, anchored, active, ended, clock
// ARGV session, epoch, anchor, µs, tenant, session id
var freezeScript = script(`
local m, epoch, at = meta(KEYS[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
if m[4] >= epoch then
  local there = redis.call('HGET', KEYS[1], 'a' .. ARGV[2])
  if not there then return redis.error_reply('TORN the anchor of epoch ' .. ARGV[2] .. ' is gone') end
  return {KEYS[1], there}
end
redis.call('HSET', KEYS[1], 'a' .. ARGV[2], ARGV[3])
redis.call('HDEL', KEYS[1], 'id')
if m[2] == 0 then m[1] = at end
m[2], m[3], m[4] = math.max(m[2], at), math.max(m[3], at), epoch
put(KEYS[1], m)
redis.call('ZADD', KEYS[2], m[2], ARGV[1])
redis.call('ZADD', KEYS[3], m[3], ARGV[1])
redis.call('HINCRBY', KEYS[5], 'size', #ARGV[3])
if epoch > 1 then finish(KEYS[1], KEYS[4], KEYS[5], epoch - 1, ARGV[5], ARGV[6]) end
return {KEYS[1]}
`)

// currentScript returns the latest anchor and its epoch, if there is one.
//
// KEYS session
var currentScript = script(`
local m = meta(KEYS[1])
if m[4] == 0 then return {KEYS[1]} end
return {KEYS[1], redis.call('HGET', KEYS[1], 'a' .. string.format('%.0f', m[4])) or '', m[4]}
`)

// endScript ends an epoch.
//
// KEYS session, active, ended, clock
// ARGV session, epoch, µs, tenant, session id
var endScript = script(`
redis.call('ZADD', KEYS[2], 'NX', ARGV[3], ARGV[1])
finish(KEYS[1], KEYS[3], KEYS[4], ARGV[2], ARGV[4], ARGV[5])
return {KEYS[1]}
`)

// appendScript stores those records of a page that were not stored of late. It
// returns the page of each, and then the session's latest epoch.
//
// KEYS session, pages, threads, seen, seen_before, index, anchored, active, clock
// ARGV session, µs of the newest record, ids as JSON, digests, seconds to
// remember records, how many at least; then of all records one after the other:
// ids (16 bytes each), kinds (a letter each), threads (8 bytes each), ends of
// lines (4 bytes each), lines, ends of header ids, header ids
var appendScript = script(`
local keys, at = KEYS, tonumber(ARGV[2])
if redis.call('HLEN', keys[4]) >= tonumber(ARGV[6]) then redis.call('RENAME', keys[4], keys[5]) end
local ids = {}
for i = 1, #ARGV[7], 16 do ids[#ids+1] = string.sub(ARGV[7], i, i + 15) end
local seen, before = redis.call('HMGET', keys[4], unpack(ids)), redis.call('HMGET', keys[5], unpack(ids))
local heads = threads(keys[3])
local v, lines, pages, fresh, n = false, {}, {KEYS[1]}, {}, 0
for i, id in ipairs(ids) do
  local page = seen[i] or before[i] or fresh[id]
  if not page then
    v = v or tick(keys[9])
    page = v
    fresh[id] = v
    n = n + 1
    lines[n] = part(ARGV[11], ARGV[10], i)
    heads.note(string.sub(ARGV[8], i, i), string.sub(ARGV[9], 8 * i - 7, 8 * i), part(ARGV[13], ARGV[12], i), v)
  end
  pages[#pages+1] = page
end
hset(keys[4], fresh)
heads.keep()
redis.call('EXPIRE', keys[4], ARGV[5])
redis.call('EXPIRE', keys[5], ARGV[5])
local m = meta(keys[1])
pages[#pages+1] = string.format('%.0f', m[4])
if not v then return pages end
local text = table.concat(lines)
redis.call('XADD', keys[2], v .. '-0', 'l', text)
redis.call('XADD', keys[6], v .. '-0', 'k', ARGV[1], 'n', n, 't', ARGV[2], 'b', #text, 'd', ARGV[4])
redis.call('HINCRBY', keys[9], 'size', #text)
if m[1] == 0 then m[1] = at end
m[3] = math.max(m[3], at)
put(keys[1], m)
if m[4] == 0 then
  redis.call('HSETNX', keys[1], 'id', ARGV[3])
  redis.call('ZADD', keys[7], 'NX', 0, ARGV[1])
end
redis.call('ZADD', keys[8], m[3], ARGV[1])
return pages
`)

// putScript stores a blob and notes when it was offered.
//
// KEYS blob, blobs, clock
// ARGV digest, bytes
var putScript = script(`
if redis.call('SETNX', KEYS[1], ARGV[2]) == 1 then redis.call('HINCRBY', KEYS[3], 'size', #ARGV[2]) end
redis.call('ZADD', KEYS[2], now(), ARGV[1])
return {KEYS[1]}
`)

// touchScript notes that a blob was offered again, and returns 1 if it is there,
// else 0.
//
// KEYS blob, blobs
// ARGV digest
var touchScript = script(`
local there = redis.call('EXISTS', KEYS[1])
if there == 1 then redis.call('ZADD', KEYS[2], now(), ARGV[1]) end
return {KEYS[1], there}
`)

// newsScript returns the bucket's time and what stands in a stream after an
// entry.
//
// KEYS stream
// ARGV first entry, how many at most
var newsScript = script(`
return {KEYS[1], now(), redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])}
`)

// dropPageScript drops a page.
//
// KEYS pages, index, clock
// ARGV entry
var dropPageScript = script(`
local i = redis.call('XRANGE', KEYS[2], ARGV[1], ARGV[1])[1]
redis.call('XDEL', KEYS[1], ARGV[1])
if not i or redis.call('XDEL', KEYS[2], ARGV[1]) == 0 then return {0, 0} end
local n, b = 0, 0
for f = 1, #i[2], 2 do
  if i[2][f] == 'n' then n = tonumber(i[2][f+1]) elseif i[2][f] == 'b' then b = tonumber(i[2][f+1]) end
end
redis.call('HINCRBY', KEYS[3], 'size', -b)
return {n, b}
`)

// dropSessionScript drops a session that has been idle, with what is left of it.
// It returns 0, or 1, and how many records and bytes that were.
//
// KEYS session, pages, threads, seen, seen_before, index, anchored, active, clock
// ARGV session, µs since which it must have been idle
var dropSessionScript = script(`
local last = redis.call('ZSCORE', KEYS[8], ARGV[1])
if not last or tonumber(last) >= tonumber(ARGV[2]) then return {0, 0, 0} end
local n, b = 0, 0
for _, e in ipairs(redis.call('XRANGE', KEYS[2], '-', '+')) do
  local i = redis.call('XRANGE', KEYS[6], e[1], e[1])[1]
  if i then
    for f = 1, #i[2], 2 do
      if i[2][f] == 'n' then n = n + tonumber(i[2][f+1]) elseif i[2][f] == 'b' then b = b + tonumber(i[2][f+1]) end
    end
    redis.call('XDEL', KEYS[6], e[1])
  end
end
local all = redis.call('HGETALL', KEYS[1])
for f = 1, #all, 2 do
  if string.sub(all[f], 1, 1) == 'a' then b = b + #all[f+1] end
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
redis.call('ZREM', KEYS[7], ARGV[1])
redis.call('ZREM', KEYS[8], ARGV[1])
redis.call('HINCRBY', KEYS[9], 'size', -b)
return {1, n, b}
`)

// namedScript returns the digests of all blobs that a session's anchors name.
//
// KEYS session
var namedScript = script(`
local list = {KEYS[1]}
local all = redis.call('HGETALL', KEYS[1])
for f = 1, #all, 2 do
  if string.sub(all[f], 1, 1) == 'a' then
    for d in string.gmatch(all[f+1], '"blake3:(%x+)"') do list[#list+1] = d end
  end
end
return list
`)

// dropBlobScript drops a blob that was not offered since a time. It returns its
// bytes, or -1 if it stays.
//
// KEYS blob, blobs, clock
// ARGV digest, tick
var dropBlobScript = script(`
local at = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not at or tonumber(at) > tonumber(ARGV[2]) then return -1 end
local b = redis.call('STRLEN', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HINCRBY', KEYS[3], 'size', -b)
return b
`)
