/** Shares: a token leads to its object until it is revoked, whatever became of its document. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'

import { sharesOver } from '../../../../src/platform/records/shares/catalog-shares.ts'
import { memoryCatalogs } from '../../../support/memory-catalogs.ts'
import { memoryDocuments } from '../../../support/memory-documents.ts'

const env = { nowMs: () => 0, secret: () => randomUUID() }
const object = { kind: 'dataset', id: randomUUID() } as const

it('A token that was revoked leads nowhere, also if its object is shared again.', async () => {
  // A server that dies may leave the document of a token behind.
  const documents = { ...memoryDocuments(), deleteDocuments: async () => {} }
  const shares = sharesOver(memoryCatalogs(env), documents, env)
  const before = await shares.make('ada', object)
  expect(await shares.make('ada', object)).toBe(before)
  await shares.revoke('ada', object)
  await expect(shares.find(before)).rejects.toMatchObject({ code: 'not_found' })
  const token = await shares.make('ada', object)
  await expect(shares.find(before)).rejects.toMatchObject({ code: 'not_found' })
  expect(await shares.find(token)).toEqual({ tenant: 'ada', object, token })
})
