-- ARGV[1]  the lease that a touch sets, in microseconds; nothing for a read that only reads
--
-- {0, now} or {0, now, version, lease's end, keep's end, value}
local bytes = call('GET', entry)
if not bytes or bytes == '' then return answer({0, now}) end
local version, lease_end, keep_end = parse(bytes)
if not version then return {2} end
if keep_end <= now then return answer({0, now}) end

if ARGV[1] ~= '' and lease_end > now then
  lease_end = math.min(now + ARGV[1], keep_end)
  local set = pcall('SETRANGE', entry, 20, format('%016d', lease_end))
  if is_error(set, 'OOM') then
    call('PEXPIREAT', entry, format('%d', math.ceil(keep_end / 1000) + 1))
    set = pcall('SETRANGE', entry, 20, format('%016d', lease_end))
  end
  if type(set) == 'table' and set.err then return set end
end
return answer({0, now, tonumber(version), lease_end, keep_end, sub(bytes, 55)})
