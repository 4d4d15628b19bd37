-- What the scripts share. They run on Redis 6.2 and later, and on Valkey.
--
-- KEYS[1]  the entry:   "S1 <version> <lease's end> <keep's end>\n<value>"
-- KEYS[2]  the counter: the shard's last version
--
-- Numbers are written with sixteen digits; moments are microseconds since 1970 by this server's
-- clock. They stay below 2^53, up to which Lua's numbers are exact, until the year 2255.
local entry, counter = KEYS[1], KEYS[2]
local call, pcall, format, sub = redis.call, redis.pcall, string.format, string.sub
local LAST = 9007199254740990
local time = call('TIME')
local now = time[1] * 1000000 + time[2]

-- Version as digits, end of lease and end of keep; nothing when these are no entry's bytes.
local function parse(bytes)
  if sub(bytes, 1, 3) ~= 'S1 ' or sub(bytes, 54, 54) ~= '\n' then return nil end
  local version = sub(bytes, 4, 19)
  local number, lease, keep = tonumber(version), tonumber(sub(bytes, 21, 36)), tonumber(sub(bytes, 38, 53))
  if not (number and lease and keep) or number > LAST then return nil end
  return version, lease, keep
end

local function is_error(reply, code)
  return type(reply) == 'table' and reply.err and string.find(reply.err, code, 1, true)
end

-- An answer that was made without a write. A replica must not even give one: what it knows may be
-- old. Only a write finds out, so here is one that changes nothing. (Elsewhere it may fail for lack
-- of replicas or of disk, which is no reason not to answer.) It comes last, because a server
-- without memory no longer refuses a script that has written.
local function answer(reply)
  local guard = pcall('PERSIST', counter)
  if is_error(guard, 'READONLY') then return guard end
  return reply
end
