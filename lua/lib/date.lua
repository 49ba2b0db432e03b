--- @export dateOf isoOf
--- The UTC date of a time (epoch milliseconds) as YYYY-MM-DD, in the proleptic Gregorian calendar. Years are counted
--- from 1 March of year 0, so that the leap day comes last.
local function dateOf(at)
  local days = math.floor(at / 86400000) + 719468
  local era = math.floor(days / 146097)
  local day = days - era * 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  day = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * day + 2) / 153)
  day = day - math.floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  return string.format('%04d-%02d-%02d', year + era * 400 + (month <= 2 and 1 or 0), month, day)
end

--- A time as ISO 8601 in UTC, with milliseconds.
local function isoOf(at)
  local ms = at % 86400000
  local seconds = math.floor(ms / 1000)
  return string.format('%sT%02d:%02d:%02d.%03dZ', dateOf(at), math.floor(seconds / 3600), math.floor(seconds / 60) % 60,
    seconds % 60, ms % 1000)
end
