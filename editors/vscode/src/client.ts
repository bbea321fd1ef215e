// The client of the language server. Its library takes longer to load than the rest of the extension together, so it is loaded when a
// server is started, after the window is up.
import { LanguageClient } from 'vscode-languageclient/node';

export { CloseAction, ErrorAction, RevealOutputChannelOn } from 'vscode-languageclient/node';

/** A client that writes its errors to the log and leaves it to Server to show them, once and with what can be done. */
export class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}
