/** The secrets of a run: secrets of its project, and credentials in responses to its calls. */

import { valueFinder } from '../secrets/known-values.ts'
import { findNamedSecrets } from '../secrets/named-secrets.ts'
import { replaceSpans } from '../secrets/text-span.ts'
import type { FindSecrets } from '../secrets/text-span.ts'
import { inBytes, starsFor } from './hidden-bytes.ts'
import type { HideSecrets } from './hidden-bytes.ts'

/** Credentials of a run that are remembered, and their characters. */
const [rememberedMax, shortest, longest] = [64, 16, 4_096]

/**
 * Hides secrets in what one run sends and gets. A token that a response contains by its name is
 * hidden in later calls, too, wherever the run sends it. A replay sends the stars of the response.
 */
export class RunSecrets {
  readonly #hide: HideSecrets
  readonly #returned = new Set<string>()
  #find: FindSecrets | undefined

  constructor(hide: HideSecrets) {
    this.#hide = hide
  }

  readonly hide: HideSecrets = (text) => {
    const shown = this.#hide(text)
    return this.#find ? replaceSpans(shown, this.#find(shown), starsFor) : shown
  }

  /** Remembers the credentials in a response, whose bytes are read as one character each. */
  readonly learn = (response: string): void => {
    const before = this.#returned.size
    for (const [from, to] of findNamedSecrets(response)) {
      if (this.#returned.size >= rememberedMax) break
      if (to - from < shortest || to - from > longest) continue
      const value = unescaped(Buffer.from(response.slice(from, to), 'latin1').toString())
      // Words and masks are no credentials.
      if (/\d/.test(value) && !/\s/.test(value)) this.#returned.add(value)
    }
    if (this.#returned.size > before) this.#find = valueFinder([...this.#returned], inBytes)
  }
}

function unescaped(json: string): string {
  try {
    return String(JSON.parse(`"${json}"`))
  } catch {
    return json
  }
}
