// The facts about a session in words, the same in the tooltip and on the dashboard.
export { facts } from '../../../internal/ui/page/words.mjs';
