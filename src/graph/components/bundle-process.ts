/** The entry of the process that builds components. It ends when it has sent all of them. */

import { stop } from 'esbuild'

import { bundleOf } from './bundle.ts'
import type { Bundled, BundlesWanted } from './bundle-mail.ts'

process.once('message', async ({ entries, ...wanted }: BundlesWanted) => {
  // One after another: each is in memory while it is built.
  for (const entry of entries) {
    const bundled: Bundled = await bundleOf(wanted, entry)
    await new Promise((sent) => process.send!(bundled, sent))
  }
  await stop()
  process.disconnect()
})
