/** Words of the sign-in screen for a person. Pure. */

/** Why a credential is asked for. */
export interface SignInReason {
  /** The server's words, or those of the page. */
  readonly reason: string
  /** True if a credential was refused. */
  readonly wasRefused: boolean
  /** Address of the server that knows the credential; null if there is none. */
  readonly elsewhere: string | null
}

/** The words, and below them what the server said, where that helps. */
export interface SignInWords {
  readonly words: string
  readonly detail?: string
}

/** Words of the page when somebody has signed out. */
export const signedOutWords = 'You have signed out.'

/** The words for a reason. */
export function signInWords({ reason, wasRefused, elsewhere }: SignInReason): SignInWords {
  if (elsewhere !== null) {
    return { words: 'Your key belongs to another region. Open the Studio there, or sign in here ' +
      'with a key of this region.', detail: reason }
  }
  if (wasRefused) {
    return { words: 'What you signed in with is not accepted. Whoever runs this server can give ' +
      'you a key that is.', detail: reason }
  }
  return reason === signedOutWords
    ? { words: signedOutWords }
    : { words: 'Sign in with the API key that you were given, or with the session token of your ' +
      'portal.' }
}
