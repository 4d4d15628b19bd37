-- ARGV[1]  expected: '*' anything, '-' nothing, or the sixteen digits of a version
-- ARGV[2]  next:     'P' put, 'R' renew, 'D' delete
-- ARGV[3]  lease, in microseconds
-- ARGV[4]  keep, in microseconds
-- ARGV[5]  the command that tells of the change: PUBLISH, SPUBLISH or nothing
-- ARGV[6]  the value
--
-- Won:  {1, now, version, when the shard began}
-- Lost: {0, now} or {0, now, version, lease's end, keep's end, value}
local expected, next, publish, value = ARGV[1], ARGV[2], ARGV[5], ARGV[6]

local head = redis.call('GETRANGE', entry, 0, HEAD - 1)
local there = head ~= ''
local version, lease_end, keep_end
if there then
  version, lease_end, keep_end = parse(head)
  if version == nil then return DAMAGED end
end
local present = there and keep_end > now

local lost
if expected == '*' then
  lost = next ~= 'P' and not present
elseif expected == '-' then
  lost = present or next ~= 'P'
else
  lost = not present or version ~= expected
end
if lost then
  if not present then return answer({0, now}) end
  value = redis.call('GETRANGE', entry, HEAD, -1)
  return answer({0, now, tonumber(version), lease_end, keep_end, value})
end

local last, born = redis.call('GET', counter), now
if last then
  last, born = string.match(last, '^(%d+) (%d+)$')
  if last == nil then return DAMAGED end
end
local stamp = math.max((tonumber(last) or 0) + 1, (tonumber(version) or 0) + 1, now)
if stamp > 9007199254740991 then return DAMAGED end

local keep = tonumber(ARGV[4])
lease_end = math.min(now + tonumber(ARGV[3]), now + keep)
keep_end = now + keep
head = 'S1 ' .. digits(stamp) .. ' ' .. digits(lease_end) .. ' ' .. digits(keep_end) .. '\n'

if next == 'D' or keep == 0 then
  if there then redis.call('DEL', entry) end
elseif next == 'R' then
  redis.call('PEXPIREAT', entry, expiry(keep_end))
  redis.call('SETRANGE', entry, 0, head)
else
  local set = redis.pcall('SET', entry, head .. value, 'PXAT', expiry(keep_end))
  -- A server without room lets a script go on that has begun with a write that needs none. So
  -- who is in can also record its outcome; who is not yet is refused.
  if full(set) and present then
    redis.call('PEXPIREAT', entry, expiry(keep_end))
    set = redis.pcall('SET', entry, head .. value, 'PXAT', expiry(keep_end))
  end
  if failed(set) then return set end
end
redis.call('SET', counter, digits(stamp) .. ' ' .. digits(tonumber(born)))

-- A hint that can't be given is one that is lost: they may be.
if publish ~= '' then redis.pcall(publish, entry, '') end
return {1, now, stamp, tonumber(born)}
