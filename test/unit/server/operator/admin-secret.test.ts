/** The secret of the socket for operator commands. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { readAdminSecret, writeAdminSecret } from '../../../../src/server/operator/admin-secret.ts'

function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-secret-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

it('removes its own file when it is closed, also twice', () => {
  const directory = freshDirectory()
  const secret = writeAdminSecret(directory, { secret: () => 'one' })
  secret.close()
  secret.close()
  expect(existsSync(join(directory, 'heddle.sock-secret'))).toBe(false)
})

it('leaves the file of a newer server when an older server closes', async () => {
  const directory = freshDirectory()
  const older = writeAdminSecret(directory, { secret: () => 'one' })
  writeAdminSecret(directory, { secret: () => 'two' })
  older.close()
  expect(await readAdminSecret(directory)).toBe('two')
})
