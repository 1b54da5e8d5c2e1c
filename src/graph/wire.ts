/**
 * The wire between the server and the code of projects, in another process or thread: lists of
 * messages in frames, in both directions. It is not the channel of `fork`, because that throws in
 * the server where a frame is broken, and code in the process can write to any file descriptor.
 */

import type { Socket } from 'node:net'
import { DefaultDeserializer, DefaultSerializer } from 'node:v8'

import { drained } from './drained.ts'

/** Bytes of the longest frame. A longer one is no frame of ours. */
const frameMax = 512 * 1024 * 1024
const headerBytes = 4

/** Events of a wire: messages, and the end by a broken frame. */
export interface WireEvents<In> {
  /** Called with each message, in order. Nothing is known of its shape. */
  mail(mail: In): void
  /** Called once if what came cannot be read. */
  broken(error: Error): void
}

/** One end of a wire. Messages of one turn of the event loop are written together. */
export class Wire<Out, In> {
  readonly #socket: Socket
  readonly #events: WireEvents<In>
  #mails: Out[] = []
  #isScheduled = false
  #chunks: Buffer[] = []
  #have = 0
  /** Bytes of the frame that is coming, with its header; 0 until the header is there. */
  #wanted = 0
  readonly #frameMax: number

  constructor(socket: Socket, events: WireEvents<In>, longest = frameMax) {
    this.#socket = socket
    this.#events = events
    this.#frameMax = longest
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    // The other end is gone. Its owner learns that when the process ends.
    socket.on('error', () => {})
  }

  /** Sends a message. Nothing happens if the other end is gone. */
  send(mail: Out): void {
    this.#mails.push(mail)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.flush())
  }

  /** Sends a message together with the next one, for messages whose arrival may be late. */
  sendAlong(mail: Out): void {
    this.#mails.push(mail)
  }

  /** Writes now what was sent. */
  flush(): void {
    this.#isScheduled = false
    const mails = this.#mails
    if (mails.length === 0) return
    this.#mails = []
    if (!this.#socket.writable) return
    const serializer = new DefaultSerializer()
    serializer.writeHeader()
    serializer.writeValue(mails)
    const body = serializer.releaseBuffer()
    const header = Buffer.allocUnsafe(headerBytes)
    header.writeUInt32LE(body.length)
    this.#socket.cork()
    this.#socket.write(header)
    this.#socket.write(body)
    this.#socket.uncork()
  }

  /** Resolves when not much waits to be written, or when nothing will be any more. */
  drained(): Promise<void> {
    return drained(this.#socket)
  }

  /** Reads and writes nothing more. */
  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#have += chunk.length
    try {
      while (this.#isComplete()) this.#deliver(this.#next())
    } catch (error) {
      this.close()
      this.#events.broken(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #isComplete(): boolean {
    if (this.#wanted === 0) {
      if (this.#have < headerBytes) return false
      this.#wanted = headerBytes + this.#joined().readUInt32LE(0)
      if (this.#wanted > this.#frameMax) throw new Error('a frame is longer than any of ours')
    }
    return this.#have >= this.#wanted
  }

  /** Takes the body of the frame that is complete. */
  #next(): Buffer {
    const all = this.#joined()
    const body = all.subarray(headerBytes, this.#wanted)
    const rest = all.subarray(this.#wanted)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#have = rest.length
    this.#wanted = 0
    return body
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]!
  }

  #deliver(body: Buffer): void {
    const deserializer = new OwnBytes(body)
    deserializer.readHeader()
    const mails: unknown = deserializer.readValue()
    if (!Array.isArray(mails)) throw new Error('a frame is no list of messages')
    for (const mail of mails) this.#events.mail(mail as In)
  }
}

/** Copies bytes out of the frame, which would be kept with them, and cloned with them. */
class OwnBytes extends DefaultDeserializer {
  _readHostObject(): unknown {
    const read = super['_readHostObject' as never] as unknown as (this: this) => unknown
    const view = read.call(this)
    return view instanceof Uint8Array ? new Uint8Array(view) : view
  }
}
