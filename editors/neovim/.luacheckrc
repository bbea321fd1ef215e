std = 'luajit'
max_line_length = 130
read_globals = { 'vim' }
-- Options and environment are set through these.
globals = { 'vim.o', 'vim.bo', 'vim.wo', 'vim.opt', 'vim.env' }
exclude_files = { 'out' }
files['test'] = { read_globals = { 'cleanup' } }
