/** The embedded store answers random filters as a plain look at every span does. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { it } from 'vitest'

import { openSpanStore } from '../../src/store/embedded/platform/open.ts'
import { filterAgreement } from '../support/filter-agreement.ts'
import { isNight } from '../support/repeats.ts'

it('Random filters find what a look at every span finds.', async ({ onTestFinished }) => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-queries-'))
  const options = { directory, diskBytes: 2 ** 40 }
  const writer = await openSpanStore(options, 'write')
  const reader = await openSpanStore(options, 'read')
  onTestFinished(async () => {
    await Promise.all([writer.close(), reader.close()])
    await rm(directory, { recursive: true, force: true })
  })
  await filterAgreement({ writer, reader }, 'acme', { traces: isNight ? 60 : 40,
    questions: isNight ? 2_000 : 40, seed: 11 })
})
