/** Errors of a file of the data directory: their messages for callers from outside. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { HeddleError } from '../../../../../src/errors.ts'
import { callerDiskError, isFull } from '../../../../../src/store/embedded/file/disk-error.ts'
import { DocumentFile } from '../../../../../src/store/embedded/platform/document-file.ts'
import { uuidOf } from '../../../../contract/span-histories.ts'

it('names a full disk if the index of the write-ahead log cannot grow', () => {
  const error = Object.assign(new Error('disk I/O error'), { errcode: 4874 })
  expect(isFull(error)).toBe(true)
  expect(callerDiskError(error, '/data/documents.db').message).toBe(
    'The disk of documents.db is full. Free some space and try again.',
  )
})

it('leaves the folder out of an error that has a message already', () => {
  const error = new HeddleError('unavailable', 'Move /data/a.db* away, and /data/a.db-wal.')
  expect(callerDiskError(error, '/data/a.db')).toMatchObject({ code: 'unavailable',
    message: 'Move a.db* away, and a.db-wal.', cause: error })
})

it('names documents.db without the path of its folder', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-documents-'))
  const documents = new DocumentFile({ directory, access: 'write' })
  onTestFinished(() => {
    documents.close()
    rmSync(directory, { recursive: true })
  })
  writeFileSync(join(directory, 'documents.db'), '')
  const put = documents.putDocuments({ tenant: 'acme', kind: 'example', owner: uuidOf(1, 1) }, [])
  await expect(put).rejects.toMatchObject({ code: 'unavailable',
    message: expect.stringMatching(/^documents\.db is empty\./) })
})
