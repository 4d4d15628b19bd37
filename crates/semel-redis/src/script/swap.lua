-- ARGV[1]  expected: '*' anything, '-' nothing, or the sixteen digits of a version
-- ARGV[2]  next:     'P' put, 'R' renew, 'D' delete
-- ARGV[3]  lease, in microseconds
-- ARGV[4]  keep, in microseconds
-- ARGV[5]  the command that tells of the change: PUBLISH, SPUBLISH or nothing
-- ARGV[6]  the value
--
-- Won:  {1, now, version, 1 if the shard began with it}
-- Lost: {0, now} or {0, now, version, lease's end, keep's end, value}
local expected, next, keep = ARGV[1], ARGV[2], tonumber(ARGV[4])
local keep_end = now + keep
-- When the server itself may remove it: never before its keep has ended.
local expiry = format('%d', math.ceil(keep_end / 1000) + 1)
local stamp, ends = now, nil

local function head()
  return format('S1 %016d %016d %016d\n', stamp, math.min(now + ARGV[3], keep_end), keep_end)
end

-- What most calls are: a claim of a key that has nothing.
local claims = expected == '-' and next == 'P' and keep > 0
local set = claims and pcall('SET', entry, head() .. ARGV[6], 'NX', 'PXAT', expiry)
if not (set and set.ok) then
  local there, version, was_lease_end, was_keep_end = call('GETRANGE', entry, 0, 53), nil, nil, nil
  if there ~= '' then
    version, was_lease_end, was_keep_end = parse(there)
    if not version then return {2} end
  end
  local present = version and was_keep_end > now

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
    local value = call('GETRANGE', entry, 54, -1)
    return answer({0, now, tonumber(version), was_lease_end, was_keep_end, value})
  end

  if version then stamp = math.max(now, version + 1) end
  if next == 'D' or keep == 0 then
    if version then call('DEL', entry) end
  elseif next == 'R' then
    call('PEXPIREAT', entry, expiry)
    call('SETRANGE', entry, 0, head())
  else
    set = pcall('SET', entry, head() .. ARGV[6], 'PXAT', expiry)
    -- A server without room lets a script go on that has begun with a write that needs none. So
    -- who is in can also record its outcome; who is not yet is refused.
    if present and is_error(set, 'OOM') then
      call('PEXPIREAT', entry, expiry)
      set = pcall('SET', entry, head() .. ARGV[6], 'PXAT', expiry)
    end
    if set.err then return set end
  end
end

-- The version is above all that the shard has given before: nearly always the clock alone is. What
-- is no counter is written over: by now there is no way back.
local given = format('%016d', stamp)
local last = pcall('SET', counter, given, 'GET')
if type(last) == 'table' then
  call('SET', counter, given)
  last = nil
end
local number = last and #last == 16 and tonumber(last)
if number and number >= stamp and number <= LAST then
  stamp = number + 1
  given = format('%016d', stamp)
  call('SET', counter, given)
  if next ~= 'D' and keep > 0 then call('SETRANGE', entry, 3, given) end
end

-- A hint that can't be given is one that is lost: they may be.
if ARGV[5] ~= '' then pcall(ARGV[5], entry, '') end
return {1, now, stamp, number and 0 or 1}
