/** Bytes that the step before a checkpoint wrote, by channel. */

import { changeSizes, writeSizes } from '../../checkpoint/index.ts'
import type { ChannelSizes, ReadCheckpoint } from '../../checkpoint/index.ts'

/**
 * Reads no values. A checkpoint that states all of its channels does not say which of them changed:
 * then it is what the tasks of its parent wrote.
 */
export async function sizesWritten(checkpoint: ReadCheckpoint['checkpoint'],
  parent: () => Promise<ReadCheckpoint | undefined>): Promise<ChannelSizes> {
  const isWhole = checkpoint.full && checkpoint.parentId !== ''
  const sizes = isWhole ? writeSizes((await parent())?.writes ?? []) : changeSizes(checkpoint)
  return Object.fromEntries(Object.entries(sizes).filter(([name]) => isShown(name)))
}

/** The engine's own channels are left out, but for those that hold input and a state as a whole. */
function isShown(channel: string): boolean {
  return channel === '__start__' || channel === '__root__' || !/^(__|branch:|join:)/.test(channel)
}
