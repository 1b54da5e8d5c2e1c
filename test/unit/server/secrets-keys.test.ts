/** A data directory has a key of its own for secrets; members of a cluster need the setting. */

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync,
  writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { secretsKeysOf } from '../../../src/server/secrets-keys.ts'

const env = { secret: () => randomBytes(32).toString('base64url') }
const settings = () => ({ secretsKey: null, cassandra: null,
  dataDirectory: mkdtempSync(join(tmpdir(), 'heddle-key-')) })

it('A key is made when a secret is first sealed, and not before.', () => {
  const own = settings()
  const file = join(own.dataDirectory, 'secrets.key')
  const keys = secretsKeysOf(own, env)!
  expect(keys()).toEqual([])
  expect(existsSync(file)).toBe(false)
  const [key] = keys('seal')
  expect(key).toHaveLength(32)
  expect(readdirSync(own.dataDirectory)).toEqual(['secrets.key'])
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file)).toEqual(Buffer.from(key!))
  // The server and its operators read the same one.
  const operator = secretsKeysOf(own, env)!
  expect(operator().map((each) => Buffer.from(each))).toEqual([readFileSync(file)])
  expect(operator('seal')).toHaveLength(1)
})

it('The file of the setting is used instead, and makes none.', () => {
  const own = settings()
  const file = join(own.dataDirectory, 'mine')
  writeFileSync(file, randomBytes(32))
  const keys = secretsKeysOf({ ...own, secretsKey: file }, env)!
  expect(Buffer.from(keys('seal')[0]!)).toEqual(readFileSync(file))
  expect(readdirSync(own.dataDirectory)).toEqual(['mine'])
})

it('Members that share a cluster have no key without the setting.', () => {
  const cassandra = {} as NonNullable<Parameters<typeof secretsKeysOf>[0]['cassandra']>
  expect(secretsKeysOf({ ...settings(), cassandra }, env)).toBeUndefined()
})

it.skipIf(process.platform === 'win32')('The commands of the page keep keys for their owner only.',
  () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/operate/rotation.md'),
      'utf8')
    const [, commands = ''] = /```\n(umask[^]+?)```/.exec(page) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'heddle-rotation-'))
    const file = join(folder, 'secrets.key')
    writeFileSync(file, randomBytes(32), { mode: 0o600 })
    // Each command says what there is after it, instead of asking a server.
    const script = commands.replaceAll(/^heddle .*$/gm, ':')
      .replaceAll('\n', '\nstat -c %a,%s secrets.key\n')
    const { stdout, status } = spawnSync('sh', ['-ec', `umask 022\n${script}`], { cwd: folder,
      encoding: 'utf8' })
    expect([status, [...new Set(stdout.trim().split('\n'))]]).toEqual([0, ['600,32', '600,64']])
    expect(readdirSync(folder)).toEqual(['secrets.key'])
  })
