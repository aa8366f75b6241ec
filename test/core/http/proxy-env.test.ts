import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../../src/core/http/proxy-env.ts';

const proxy = (target: string, env: NodeJS.ProcessEnv) => proxyFor(new URL(target), env)?.href;

describe('the proxy of a request', () => {
  it('is chosen by the scheme of the target, and lower-case variables take precedence', () => {
    expect(proxy('http://a.test', { HTTP_PROXY: 'http://p:1' })).toBe('http://p:1/');
    expect(proxy('https://a.test', { HTTP_PROXY: 'http://p:1' })).toBeUndefined();
    expect(
      proxy('https://a.test', { https_proxy: 'http://low:1', HTTPS_PROXY: 'http://up:1' }),
    ).toBe('http://low:1/');
    expect(proxy('https://a.test', { https_proxy: '', HTTPS_PROXY: 'http://up:1' })).toBe(
      'http://up:1/',
    );
  });

  it('is ALL_PROXY if the scheme has none, and may omit its own scheme', () => {
    expect(proxy('https://a.test', { ALL_PROXY: 'p.test:3128' })).toBe('http://p.test:3128/');
  });

  it.each([
    ['*', 'http://a.test', true],
    ['a.test', 'http://a.test', true],
    ['a.test', 'http://x.a.test', true],
    ['.a.test', 'http://x.a.test', true],
    ['*.a.test', 'http://x.a.test', true],
    ['a.test', 'http://ba.test', false],
    ['a.test:8080', 'http://a.test', false],
    ['a.test:80', 'http://a.test', true],
    ['other, A.TEST', 'http://a.test', true],
    ['10.0.0.0/8', 'http://10.1.2.3', true],
    ['10.0.0.0/8', 'http://11.1.2.3', false],
    ['10.0.0.0/99', 'http://10.1.2.3', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['fd12::1', 'http://[fd12::1]:9', true],
    ['[fd12::1]:9', 'http://[fd12::1]:9', true],
    ['2.3', 'http://10.1.2.3', false],
  ])('is skipped if NO_PROXY=%s matches %s: %s', (list, target, exempt) => {
    expect(proxy(target, { http_proxy: 'http://p:1', NO_PROXY: list }) === undefined).toBe(exempt);
  });

  it('of an unsupported type is rejected with a hint that names the variable and the host', () => {
    expect(() => proxy('http://a.test', { all_proxy: 'socks5://p:1' })).toThrow(
      expect.objectContaining({
        message: 'unsupported proxy in ALL_PROXY: socks5',
        hint: 'set ALL_PROXY to an http or https proxy, or add a.test to NO_PROXY',
      }),
    );
  });
});
