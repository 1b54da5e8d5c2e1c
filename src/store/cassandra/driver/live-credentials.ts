/** Credentials in files that may be replaced: each new connection to Cassandra has the newest. */

import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { ConnectionOptions as TlsOptions } from 'node:tls'

import { auth } from 'cassandra-driver'

import { readSettingFile } from '../../../settings/index.ts'

/** Paths of files in PEM format. */
export interface TlsFiles {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Logs in with the password that is in a file now, or else with the one of the start. */
export class PasswordFromFile extends auth.PlainTextAuthProvider {
  readonly #user: string
  readonly #file: string | undefined
  #password: string

  constructor(user: string, password: string, file: string | undefined) {
    super(user, password)
    this.#user = user
    this.#password = password
    this.#file = file
  }

  override newAuthenticator(endpoint: string, name: string): auth.Authenticator {
    this.#password = this.#read() || this.#password
    return new auth.PlainTextAuthProvider(this.#user, this.#password)
      .newAuthenticator(endpoint, name)
  }

  #read(): string {
    if (this.#file === undefined) return ''
    try {
      return readFileSync(this.#file, 'utf8').replace(/\r?\n$/, '')
    } catch {
      return ''
    }
  }
}

/**
 * The options of each new connection. The driver copies them then, so the members read the files.
 * Files that cannot be used any more are ignored. Throws HeddleError if they cannot be read at
 * first.
 */
export function tlsFromFiles(files: TlsFiles): TlsOptions {
  let [current, stamp] = [read(files), stampOf(files)]
  const newest = () => {
    const found = stampOf(files)
    if (found === stamp) return current
    try {
      const pems = read(files)
      // A new certificate whose key is still the old one comes to nothing.
      createSecureContext(pems)
      ;[current, stamp] = [pems, found]
    } catch {
      // Somebody replaces them just now.
    }
    return current
  }
  const options = { rejectUnauthorized: true }
  for (const name of ['ca', 'cert', 'key'] as const) {
    if (files[name] === undefined) continue
    Object.defineProperty(options, name, { enumerable: true, get: () => newest()[name] })
  }
  return options
}

function read({ ca, cert, key }: TlsFiles): TlsFiles {
  return {
    ...ca !== undefined && { ca: readSettingFile('tlsCa', ca) },
    ...cert !== undefined && { cert: readSettingFile('tlsCert', cert) },
    ...key !== undefined && { key: readSettingFile('tlsKey', key) },
  }
}

/** Different if a file was replaced. */
function stampOf(files: TlsFiles): string {
  return [files.ca, files.cert, files.key].map((path) => {
    if (path === undefined) return ''
    const file = statSync(path, { throwIfNoEntry: false })
    return `${file?.ino}/${file?.mtimeMs}/${file?.size}`
  }).join()
}
