/** One member: a process that ends with this process and can be started again. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'

import { endWithUs } from '../cassandra/guard.ts'
import { bannerIn, refusalIn } from './banner.ts'
import type { Banner } from './banner.ts'
import type { MemberDescription } from './description.ts'

/** How a member is started. */
export interface MemberProcessOptions {
  /** The file of the program and its arguments, with the data folder. */
  readonly command: readonly string[]
  /** Directory of the member, where output.log has its output. */
  readonly directory: string
}

/** Starts and ends one member. */
export class MemberProcess {
  readonly #options: MemberProcessOptions
  #program: ChildProcess | undefined

  constructor(options: MemberProcessOptions) {
    this.#options = options
  }

  /** The file with all its output. */
  get logFile(): string {
    return join(this.#options.directory, 'output.log')
  }

  /** Starts the member. Resolves when it serves. Rejects with a message if it ends before. */
  async start(): Promise<MemberDescription> {
    mkdirSync(this.#options.directory, { recursive: true })
    // The member has a process group of its own, so that Ctrl-C reaches only this process, which
    // ends all.
    const program = spawn(process.execPath, [...this.#options.command], { detached: true,
      stdio: ['ignore', 'pipe', 'pipe'] })
    this.#program = program
    await once(program, 'spawn')
    endWithUs(program)
    const { grpc, http, session } = await this.#received(program)
    return { pid: program.pid!, grpc, http, session }
  }

  /** Resolves with how the last process ended; at once if there was none. */
  async ended(): Promise<string> {
    if (this.#runs()) await once(this.#program!, 'exit')
    return this.#program?.signalCode ?? `exit code ${this.#program?.exitCode}`
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#runs()) this.#program!.kill(signal)
  }

  #runs(): boolean {
    return this.#program?.exitCode === null && this.#program.signalCode === null
  }

  #received(program: ChildProcess): Promise<Banner> {
    // Opened at once, so that nothing is opened after whoever ended the member removed the folder.
    const log = createWriteStream(this.logFile, { fd: openSync(this.logFile, 'a') })
    return new Promise((serves, failed) => {
      let said: string | undefined = ''
      const hear = (chunk: Buffer) => {
        log.write(chunk)
        if (said === undefined) return
        said += chunk.toString()
        const banner = bannerIn(said)
        if (banner === undefined) return
        said = undefined
        serves(banner)
      }
      program.stdout!.on('data', hear)
      program.stderr!.on('data', hear)
      program.once('close', () => {
        log.end()
        if (said !== undefined) failed(new Error(refusalIn(said) || 'it printed nothing.'))
      })
    })
  }
}
