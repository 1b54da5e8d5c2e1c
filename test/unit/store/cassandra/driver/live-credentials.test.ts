/** Credentials for Cassandra are those that are in their files now. */

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

import { PasswordFromFile,
  tlsFromFiles } from '../../../../../src/store/cassandra/driver/live-credentials.ts'
import { authority, key, member, outsider } from '../../../../support/certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'heddle-credentials-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

let stamps = 0
const put = (name: string, text: string) => {
  writeFileSync(at(name), text)
  const later = new Date(Date.now() + ++stamps * 10_000)
  utimesSync(at(name), later, later)
}

/** What a new connection sends first. */
function login(provider: PasswordFromFile): Promise<string> {
  return new Promise((sent, failed) =>
    provider.newAuthenticator('127.0.0.1:9042', 'PasswordAuthenticator')
      .initialResponse((error: unknown, bytes: unknown) =>
        error ? failed(error as Error) : sent(String(bytes))
      )
  )
}

it('The password of a new connection is the one in the file.', async () => {
  put('password', 'first\n')
  const provider = new PasswordFromFile('heddle', 'first', at('password'))
  expect(await login(provider)).toBe('\0heddle\0first')
  put('password', 'second\n')
  expect(await login(provider)).toBe('\0heddle\0second')
  rmSync(at('password'))
  expect(await login(provider)).toBe('\0heddle\0second')
  expect(await login(new PasswordFromFile('heddle', 'typed', undefined))).toBe('\0heddle\0typed')
})

it('The certificates of a new connection are those in the files, if they can be used.', () => {
  for (const [name, text] of Object.entries({ ca: outsider, cert: member, key })) put(name, text)
  const options = tlsFromFiles({ ca: at('ca'), cert: at('cert'), key: at('key') })
  expect({ ...options }).toEqual({ rejectUnauthorized: true, ca: outsider, cert: member, key })
  put('ca', authority)
  expect({ ...options }).toMatchObject({ ca: authority })
  put('key', 'half of a')
  expect({ ...options }).toMatchObject({ key })
  expect(Object.keys(tlsFromFiles({ ca: at('ca') }))).toEqual(['rejectUnauthorized', 'ca'])
  expect(() => tlsFromFiles({ ca: at('none') })).toThrow('--tls-ca')
})
