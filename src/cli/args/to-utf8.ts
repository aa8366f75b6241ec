const UTF8 = Buffer.from('\uFEFF');
/** The byte order marks of UTF-16, which Windows PowerShell and spreadsheets write. */
const UTF16 = [
  { mark: Buffer.from([0xff, 0xfe]), name: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), name: 'utf-16be' },
] as const;

const startsWith = (bytes: Buffer, mark: Buffer) => bytes.subarray(0, mark.length).equals(mark);
/** Whether more bytes are needed to decide whether these are a byte order mark. */
const mayBecomeMark = (bytes: Buffer) =>
  [UTF8, ...UTF16.map(({ mark }) => mark)].some(
    (mark) => bytes.length < mark.length && startsWith(mark, bytes),
  );

/** Removes the byte order mark, if there is one. If it is a mark of UTF-16, also converts the input to UTF-8. */
export async function* toUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let head: Buffer<ArrayBufferLike> | undefined = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of chunks) {
    let bytes: Buffer = Buffer.from(chunk);
    if (head) {
      head = Buffer.concat([head, bytes]);
      if (mayBecomeMark(head)) continue;
      bytes = startsWith(head, UTF8) ? head.subarray(UTF8.length) : head;
      const wide = UTF16.find(({ mark }) => startsWith(bytes, mark));
      decoder = wide && new TextDecoder(wide.name);
      head = undefined;
    }
    yield decoder ? Buffer.from(decoder.decode(bytes, { stream: true })) : bytes;
  }
  if (head) yield head;
  else if (decoder) yield Buffer.from(decoder.decode());
}
