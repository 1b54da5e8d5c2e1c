/** Which versions of the engine are served. */

import { expect, it } from 'vitest'

import { engineFault } from '../../../src/graph/engine-version.ts'

it.each(['0.2.11', '0.2.67', '0.1.99', '0.2.11-rc.1'])('The engine %s is refused.', (version) => {
  expect(engineFault(version)).toBe(
    `The project runs on @langchain/langgraph ${version}, which is ` +
      'too old to be served: install 0.2.68 or newer.',
  )
})

it.each(['0.2.68', '0.2.100', '0.3.0', '1.0.0-alpha.1', '10.0.0', 'link:../x', '', undefined])(
  'The engine %s may be served.',
  (version) => {
    expect(engineFault(version)).toBeUndefined()
  },
)
