-- A fence is compared, remembered, and what it guards is done: one step.
--
-- KEYS[1]  the gate's entry: the highest fence, as twenty digits
-- KEYS[2]  the guarded key, if there is one
-- ARGV[1]  the fence that is shown, as twenty digits
-- ARGV[2]  how long the entry is kept, in milliseconds, or '-' for good
-- ARGV[3]  what is done with the guarded key: 'SET' or 'DEL'
-- ARGV[4]  the value
--
-- Passed: {1}. Refused: {0, the highest}. Damaged: {2}.
local gate, shown, keep = KEYS[1], ARGV[1], ARGV[2]
local seen = redis.call('GET', gate)
if seen then
  if #seen ~= 20 or string.find(seen, '%D') then return {2} end
  -- By halves: Lua's numbers are exact up to 2^53 only, and texts are compared as the machine's
  -- locale has it.
  local function half(text, from) return tonumber(string.sub(text, from, from + 9)) end
  local high, low = half(shown, 1) - half(seen, 1), half(shown, 11) - half(seen, 11)
  if high < 0 or (high == 0 and low < 0) then return {0, seen} end
end
-- First what is remembered: if the rest fails, nothing that is older gets in.
if keep == '-' then
  redis.call('SET', gate, shown)
else
  redis.call('SET', gate, shown, 'PX', keep)
end
if ARGV[3] == 'SET' then
  redis.call('SET', KEYS[2], ARGV[4])
elseif ARGV[3] == 'DEL' then
  redis.call('DEL', KEYS[2])
end
return {1}
