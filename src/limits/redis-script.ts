/**
 * What Redis does for limits, as one Lua script on Redis' own clock: each run is atomic. Integers only, in
 * microseconds; all are below 2^53, so that Lua's doubles hold them exactly. All keys have one hash tag, so that a
 * cluster keeps them together.
 *
 *   <prefix>rate:<name>   text    the theoretical arrival time, µs since 1970; expires when it has passed
 *   <prefix>slot:<name>   zset    holder → the time at which its lease ends, µs since 1970
 *
 *   ARGV[1]   'admit'      rates, slots, holder, ttl µs, then (name, period, tolerance) of each rate,
 *                          (name, limit) of each slot
 *                          → { refused: 0 | 1 rate | 2 slot, index from 1, tat of each rate µs
 *                          ahead, in use of each slot }
 *             'renew'      ttl µs, then (holder, name) pairs
 *             'release'    holder, then names
 *             'give_back'  name, period
 *             'in_use'     names → { count, … }
 */
export const REDIS_PREFIX = '{parley:limits}:';

export const LIMITS_SCRIPT = `
local prefix = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local function whole(number) return string.format('%.0f', number) end
local function rate_key(name) return prefix .. 'rate:' .. name end
local function slot_key(name) return prefix .. 'slot:' .. name end

local function ahead(name)
  local tat = tonumber(redis.call('GET', rate_key(name)) or '0')
  return math.max(0, tat - now)
end
local function put_tat(name, ahead_us)
  redis.call('SET', rate_key(name), whole(now + ahead_us), 'PX', whole(math.ceil(ahead_us / 1000) + 1))
end
local function hold(name, holder, ttl)
  redis.call('ZADD', slot_key(name), whole(now + ttl), holder)
  redis.call('PEXPIRE', slot_key(name), whole(math.ceil(ttl / 1000) + 3600000))
end
local function in_use(name)
  redis.call('ZREMRANGEBYSCORE', slot_key(name), '-inf', whole(now))
  return redis.call('ZCARD', slot_key(name))
end

local command = ARGV[1]
if command == 'admit' then
  local rates, slots, holder, ttl = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
  local refused, index = 0, 0
  local answer = { 0, 0 }
  local at = 6
  for i = 1, rates do
    local tat = ahead(ARGV[at])
    answer[#answer + 1] = tat
    if refused == 0 and tat > tonumber(ARGV[at + 2]) then refused, index = 1, i end
    at = at + 3
  end
  local first_slot = at
  for i = 1, slots do
    local used = in_use(ARGV[at])
    if redis.call('ZSCORE', slot_key(ARGV[at]), holder) then used = used - 1 end
    answer[#answer + 1] = used
    if refused == 0 and used >= tonumber(ARGV[at + 1]) then refused, index = 2, i end
    at = at + 2
  end
  if refused == 0 then
    for i = 1, rates do
      put_tat(ARGV[3 + 3 * i], answer[2 + i] + tonumber(ARGV[4 + 3 * i]))
    end
    for i = 1, slots do hold(ARGV[first_slot + 2 * (i - 1)], holder, ttl) end
  end
  answer[1], answer[2] = refused, index
  return answer
elseif command == 'renew' then
  for at = 3, #ARGV, 2 do hold(ARGV[at + 1], ARGV[at], tonumber(ARGV[2])) end
elseif command == 'release' then
  for at = 3, #ARGV do redis.call('ZREM', slot_key(ARGV[at]), ARGV[2]) end
elseif command == 'give_back' then
  local left = ahead(ARGV[2]) - tonumber(ARGV[3])
  if left > 0 then put_tat(ARGV[2], left) else redis.call('DEL', rate_key(ARGV[2])) end
elseif command == 'in_use' then
  local answer = {}
  for at = 2, #ARGV do answer[#answer + 1] = in_use(ARGV[at]) end
  return answer
else
  return redis.error_reply('unknown command ' .. command)
end
return {}
`;
