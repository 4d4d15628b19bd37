-- ARGV[1]  the lease that a touch sets, in microseconds; nothing for a read that only reads
--
-- {0, now} or {0, now, version, lease's end, keep's end, value}
local bytes = redis.call('GET', entry)
if not bytes or bytes == '' then return answer({0, now}) end
local version, lease_end, keep_end = parse(bytes)
if version == nil then return DAMAGED end
if keep_end <= now then return answer({0, now}) end

if ARGV[1] ~= '' and lease_end > now then
  lease_end = math.min(now + tonumber(ARGV[1]), keep_end)
  local set = redis.pcall('SETRANGE', entry, LEASE_AT, digits(lease_end))
  if full(set) then
    redis.call('PEXPIREAT', entry, expiry(keep_end))
    set = redis.pcall('SETRANGE', entry, LEASE_AT, digits(lease_end))
  end
  if failed(set) then return set end
end
return answer({0, now, tonumber(version), lease_end, keep_end, string.sub(bytes, HEAD + 1)})
