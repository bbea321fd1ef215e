-- What was learned of windows before did not say whether the model ran with the option of a long window, so that one session with it
-- gave every other the wrong size. It is learned anew.
DELETE FROM windows;
