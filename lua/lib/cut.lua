--- @export beginningOf
--- The beginning of a text, cut at the end of a character.
local function beginningOf(text, maxBytes)
  if #text <= maxBytes then return text end
  return (string.gsub(string.sub(text, 1, maxBytes), '[\192-\255][\128-\191]*$', ''))
end
