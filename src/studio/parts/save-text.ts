/** Gives a text to the person as a file. */

import { after } from '../env.ts'

/** Saves a text under a name, where the browser puts what it downloads. */
export function saveText(name: string, text: string, kind = 'application/x-ndjson'): void {
  const address = URL.createObjectURL(new Blob([text], { type: kind }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Some browsers read it a moment later.
  after(10_000, () => URL.revokeObjectURL(address))
}
