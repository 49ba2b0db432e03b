--- @include lib/clock
--- @export day today yesterday
--- The current day and the one before: days since 1970, as texts.
local day = {}
local today, yesterday
--- `today` as a number.
local current

--- At the start of a run.
function day.start()
  local number = math.floor(now / 86400000)
  if number ~= current then
    current, today, yesterday = number, string.format('%d', number), string.format('%d', number - 1)
  end
end
