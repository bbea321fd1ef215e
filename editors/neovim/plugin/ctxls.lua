-- What is there before anything is asked for: one command. All else is loaded when it is used.
local function run(...)
  require('ctxls.commands').run(...)
end

local function complete(...)
  return require('ctxls.commands').complete(...)
end

if vim.fn.has('nvim-0.10') == 0 then
  local why = require('ctxls.old').why
  run = function()
    vim.notify(why, vim.log.levels.ERROR)
  end
  complete = function()
    return {}
  end
end

vim.api.nvim_create_user_command('Ctxls', run, {
  nargs = '*',
  range = true,
  complete = complete,
  desc = 'Context windows of coding agents',
})
