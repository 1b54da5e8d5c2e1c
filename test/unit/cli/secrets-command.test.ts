/** The key of stored secrets is replaced while a server has them, and while none does. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'

import { heddle } from '../../support/command.ts'
import { secretsCommand } from '../../support/secrets-command.ts'
import { serveDirectory } from './served-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-secrets-'))
afterAll(() => rmSync(root, { recursive: true }))

const [data, file] = [join(root, 'data'), join(root, 'keys')]
const [older, newer, last] = [randomBytes(32), randomBytes(32), randomBytes(32)]

const secrets = secretsCommand(heddle, data, file)

it('The command "secrets rekey" replaces the key while a server has the secrets.', async () => {
  writeFileSync(file, older)
  const server = await serveDirectory(data, file)
  onTestFinished(server.close)
  await server.setSecret('FIRST', 'sk-first')
  expect(await secrets('check')).toMatchObject({ status: 0, stored: 1, unopened: 0 })
  writeFileSync(file, Buffer.concat([newer, older]))
  await server.setSecret('SECOND', 'sk-second')
  expect(await secrets('check')).toMatchObject({ stored: 2, sealedWithOlder: 1 })
  expect(await secrets('rekey')).toMatchObject({ status: 0, stored: 2, rekeyed: 1 })
  writeFileSync(file, newer)
  expect(await secrets('check')).toMatchObject({ status: 0, stored: 2, sealedWithOlder: 0 })
  writeFileSync(file, older)
  expect(await secrets('check')).toMatchObject({ status: 1, unopened: 2,
    stderr: expect.stringContaining('2 secrets were sealed with a key that is not in the file') })
})

it('The command "secrets rekey" replaces the key without a server.', async () => {
  writeFileSync(file, Buffer.concat([last, newer]))
  expect(await secrets('rekey')).toMatchObject({ status: 0, rekeyed: 2 })
  writeFileSync(file, last)
  expect(await secrets('check')).toMatchObject({ status: 0, sealedWithOlder: 0, unopened: 0 })
  expect((await heddle('secrets')).status).toBe(2)
})
