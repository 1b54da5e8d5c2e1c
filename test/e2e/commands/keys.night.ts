/** The command "keys" while a server runs on the data directory, and after it was killed. */

import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { heddleProcess } from '../../support/command.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import { tookMs } from '../../support/stillness.ts'
import { ask } from '../../support/wire.ts'

const data = mkdtempSync(join(tmpdir(), 'heddle-keys-'))
afterAll(() => rmSync(data, { recursive: true }))

const keys = (...args: readonly string[]) => heddleProcess('keys', ...args, '--data', data)

const printed = async (...args: readonly string[]) => (await keys(...args)).stdout

const made = async (...args: readonly string[]) =>
  JSON.parse(await printed('create', '--json', ...args)) as { key: string; id: string }

describe('the command "keys"', () => {
  it('works while a server uses the directory, and revokes within five seconds', async () => {
    const { key: before } = await made('--tenant', 'acme')
    const server = await startServer({ dataDir: data, args: ['--auth', 'keys', ...oneWorker] })
    const socket = join(data, 'heddle.sock')
    const statusWith = async (key: string) =>
      (await ask(server.url, 'POST', '/threads/search', {}, { 'x-api-key': key })).status
    try {
      expect(statSync(socket).mode & 0o777).toBe(0o600)
      expect(await statusWith(before)).toBe(200)
      const { key, id } = await made('--tenant', 'acme')
      expect(await statusWith(key)).toBe(200)
      expect(await printed('list')).toContain(id)
      expect((await keys('revoke', id)).status).toBe(0)
      const revokedMs = performance.now()
      await expect.poll(() => statusWith(key)).toBe(401)
      expect(tookMs(revokedMs)).toBeLessThan(5_000)
      expect(await statusWith(before)).toBe(200)
      // The socket of a killed server disturbs neither the command nor the next server.
      await server.kill('SIGKILL')
      expect(existsSync(socket)).toBe(true)
      expect(await printed('list')).toContain(id)
      await server.restart()
      expect([await statusWith(before), await statusWith(key)]).toEqual([200, 401])
      expect(await printed('list')).toMatch(/revoked/)
    } finally {
      await server.kill('SIGTERM')
    }
    expect(existsSync(socket)).toBe(false)
  })
})
