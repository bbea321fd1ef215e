-- What tests say of what they see.
local M = {}

local function show(value)
  return type(value) == 'string' and ('%q'):format(value) or vim.inspect(value)
end

function M.same(got, want, what)
  if not vim.deep_equal(got, want) then
    error(('%s: got %s, want %s'):format(what or 'a value', show(got), show(want)), 2)
  end
end

---The text holds each of the others, literally.
function M.holds(text, ...)
  for _, part in ipairs({ ... }) do
    if not text:find(part, 1, true) then
      error(('%s is not in:\n%s'):format(show(part), text), 2)
    end
  end
end

function M.lacks(text, ...)
  for _, part in ipairs({ ... }) do
    if text:find(part, 1, true) then
      error(('%s is in:\n%s'):format(show(part), text), 2)
    end
  end
end

---How long anything may take on a machine that is busy with other tests, in milliseconds.
M.soon = 30 * 1000

---Waits until a look at something returns what is wanted, a true value where nothing is said, and returns it.
function M.eventually(look, want, what)
  local got
  local function there()
    got = look()
    if want == nil then
      return got
    end
    return vim.deep_equal(got, want)
  end
  if not vim.wait(M.soon, there, 20) then
    error(('%s never came: got %s, want %s'):format(what or 'what is wanted', show(got), show(want)), 2)
  end
  return got
end

return M
