-- A session's history in one line of blocks.
local text = require('ctxls.text')

local M = {}

local blocks = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }

---Draws how full a window was over time, in so many cells. Where many samples share a cell it shows the highest; until there is
---news the last one stands.
---@param samples ctxls.Sample[] oldest first, at least one
---@param width integer
---@return string blocks
---@return string? marks a line with a mark under each compaction, where there was one
function M.draw(samples, width)
  local first, last = text.time(samples[1].at), text.time(samples[#samples].at)
  local function cell(at)
    return last > first and math.floor((text.time(at) - first) / (last - first) * (width - 1)) + 1 or width
  end
  local held, marks, compacted, window = {}, {}, false, 1
  for i, sample in ipairs(samples) do
    window = math.max(window, sample.windowTokens, sample.tokens)
    local at = cell(sample.at)
    held[at] = math.max(held[at] or 0, sample.tokens)
    if sample.kind == 'compaction' then
      marks[at], compacted = '▼', true
    end
    for between = at + 1, (samples[i + 1] and cell(samples[i + 1].at) or 0) - 1 do
      held[between] = sample.tokens
    end
  end
  local drawn = {}
  for i = 1, width do
    local level = held[i] and math.floor(held[i] / window * #blocks + 0.5)
    drawn[i] = level and blocks[math.max(1, level)] or ' '
    marks[i] = marks[i] or ' '
  end
  return table.concat(drawn), compacted and (table.concat(marks):gsub(' +$', '')) or nil
end

return M
