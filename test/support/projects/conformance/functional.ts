/** The functional API: an entrypoint with two tasks, the second after an interrupt. */

import { entrypoint, interrupt, task } from '@langchain/langgraph'

const double = task('double', async (number: number) => number * 2)

/** `{number}` in; `{number, sure}` out. */
export const functional = entrypoint('functional', async (input: { number: number }) => {
  const doubled = await double(input.number)
  const sure = interrupt('sure?') as string
  return { number: await double(doubled), sure }
})
