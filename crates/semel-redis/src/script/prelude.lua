-- What the scripts share. They run on Redis 6.2 and later, and on Valkey.
--
-- KEYS[1]  the entry:   "S1 <version> <lease's end> <keep's end>\n<value>"
-- KEYS[2]  the counter: "<last version> <when the shard began>"
--
-- Numbers are written with sixteen digits; moments are microseconds since 1970 by this server's
-- clock. They stay below 2^53, up to which Lua's numbers are exact, until the year 2255.
local entry, counter = KEYS[1], KEYS[2]
local HEAD, LEASE_AT = 54, 20
local DAMAGED = {2}

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function digits(number)
  return string.format('%016.0f', number)
end

-- Version, end of lease and end of keep; nothing when these are not the bytes of an entry.
local function parse(bytes)
  local version, lease, keep = string.match(bytes, '^S1 (%d+) (%d+) (%d+)\n')
  if version == nil or #version ~= 16 or #lease ~= 16 or #keep ~= 16 then return nil end
  return version, tonumber(lease), tonumber(keep)
end

-- When the server itself may remove it: never before its keep has ended.
local function expiry(keep)
  return string.format('%.0f', math.ceil(keep / 1000) + 1)
end

local function failed(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

-- An answer that was made without a write. A replica must not even give one: what it knows may be
-- old. Only a write finds out, so here is one that changes nothing. (Elsewhere it may fail for lack
-- of replicas or of disk, which is no reason not to answer.) It comes last, because a server
-- without memory no longer refuses a script that has written.
local function answer(reply)
  local guard = redis.pcall('PERSIST', counter)
  if failed(guard) and string.find(guard.err, 'READONLY', 1, true) then return guard end
  return reply
end

local function full(reply)
  return failed(reply) and string.find(reply.err, 'OOM', 1, true) ~= nil
end
