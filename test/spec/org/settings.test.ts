import { expect } from 'chai';
import { ConfigError, readConfig } from '../../../src/config.ts';

describe('Settings', () => {
  const defaults = {
    role: 'all',
    port: 8080,
    metricsPort: null,
    host: '127.0.0.1',
    publicUrl: null,
    corsOrigins: null,
    oidcIssuer: null,
    oidcAudience: null,
    oidcClaim: 'muster',
    oidcClientId: null,
    oidcScope: 'openid',
    redisUrl: null,
    allowEviction: false,
    dataDir: './data',
    logLevel: 'info',
    otelExporterOtlpEndpoint: null,
    otelExporterOtlpProtocol: 'http/protobuf',
    traceUrl: null,
    webhookAllowPrivate: false,
    sealAfterSeconds: 3600,
    snapshotIntervalSeconds: 3600,
    snapshotKeep: 24,
    redisServer: null,
    redisMaxmemory: null,
  };

  it('have defaults; an empty setting counts as unset', () => {
    expect(readConfig({})).to.deep.equal(defaults);
    const names = [
      'ROLE',
      'PORT',
      'METRICS_PORT',
      'HOST',
      'PUBLIC_URL',
      'CORS_ORIGINS',
      'OIDC_ISSUER',
      'OIDC_AUDIENCE',
      'OIDC_CLAIM',
      'OIDC_CLIENT_ID',
      'OIDC_SCOPE',
      'REDIS_URL',
      'ALLOW_EVICTION',
      'DATA_DIR',
      'LOG_LEVEL',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'TRACE_URL',
      'WEBHOOK_ALLOW_PRIVATE',
      'SEAL_AFTER_SECONDS',
      'REDIS_SERVER',
      'REDIS_MAXMEMORY',
    ];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).to.deep.equal(defaults);
  });

  it('are read from the environment', () => {
    const env = {
      ROLE: 'worker',
      PORT: ' 0 ',
      METRICS_PORT: '9090',
      HOST: '::',
      PUBLIC_URL: 'https://Muster.example.com:443/team/',
      CORS_ORIGINS: 'https://App.example.com:443, http://localhost:5173/',
      OIDC_ISSUER: 'https://login.example.com/realms/main/',
      OIDC_AUDIENCE: 'https://muster.example.com',
      OIDC_CLAIM: 'https://muster.example.com/claim',
      OIDC_CLIENT_ID: 'console',
      OIDC_SCOPE: 'openid api://muster/use',
      REDIS_URL: 'rediss://user:secret@redis.example.com:6380/1',
      ALLOW_EVICTION: 'true',
      DATA_DIR: '/var/lib/muster',
      LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      TRACE_URL: 'https://jaeger.example.com/trace/{traceId}',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SEAL_AFTER_SECONDS: '0',
      SNAPSHOT_INTERVAL_SECONDS: '60',
      SNAPSHOT_KEEP: '3',
      REDIS_SERVER: '/opt/redis-server',
      REDIS_MAXMEMORY: '6gb',
    };
    expect(Object.values(readConfig(env))).to.deep.equal([
      'worker',
      0,
      9090,
      '::',
      'https://muster.example.com/team',
      ['https://app.example.com', 'http://localhost:5173'],
      'https://login.example.com/realms/main/',
      'https://muster.example.com',
      'https://muster.example.com/claim',
      'console',
      'openid api://muster/use',
      'rediss://user:secret@redis.example.com:6380/1',
      true,
      '/var/lib/muster',
      'debug',
      'http://localhost:4318',
      'http/protobuf',
      'https://jaeger.example.com/trace/{traceId}',
      true,
      0,
      60,
      3,
      '/opt/redis-server',
      '6gb',
    ]);
  });

  const good: Record<string, string[]> = {
    PORT: ['0', '1', '65535'],
    HOST: ['0.0.0.0', 'localhost', '::1', 'muster.example.com'],
    PUBLIC_URL: [
      'https://muster.example.com',
      'http://10.0.0.1:8080/',
      'https://example.com/muster',
      'http://[::1]:8080',
    ],
    REDIS_URL: [
      'redis://localhost',
      'redis://:pw@10.0.0.1:6379',
      'redis://:p%40s%2Fs@10.0.0.1/3',
      'unix:///run/redis.sock',
      '/run/redis.sock',
      'redis://[::1]:7000',
      'redis+sentinel://10.0.0.1:26379,10.0.0.2/store',
      'redis+sentinel://user:pw@[::1]:26379/store',
    ],
  };
  for (const [name, texts] of Object.entries(good)) {
    it(`accept ${name} as ${texts.join(' or ')}`, () => {
      for (const text of texts) expect(() => readConfig({ [name]: text }), text).not.to.throw();
    });
  }

  const bad: Record<string, string[]> = {
    ROLE: ['both', 'API', 'api,worker'],
    PORT: ['65536', '-1', '80a', '8080.5', '1e3', '0x50', '99999999999999999999'],
    METRICS_PORT: ['65536', 'x'],
    HOST: ['http://x', 'a b', '127.0.0.1:8080'],
    PUBLIC_URL: [
      'muster.example.com',
      'localhost:8080',
      'ftp://muster.example.com',
      'https://',
      'https://muster.example.com/?team=a',
      'https://muster.example.com/#a',
      'https://muster.example.com/?',
      'https://user:pw@muster.example.com',
      'https://muster.example.com:99999',
      'https://one.example.com, https://two.example.com',
    ],
    CORS_ORIGINS: [
      '*',
      'app.example.com',
      'https://app.example.com/page',
      'https://a.example.com,',
      'null',
      'file:///x',
    ],
    OIDC_ISSUER: [
      'login.example.com',
      'http://login.example.com',
      'http://10.0.0.1:8080',
      'http://localhost.example.com',
      'ftp://login.example.com',
      'https://login.example.com/?tenant=a',
      'https://user:pw@login.example.com',
    ],
    OIDC_AUDIENCE: ['a b', 'ä'],
    OIDC_CLAIM: ['a b'],
    OIDC_CLIENT_ID: ['a b'],
    OIDC_SCOPE: ['openid  muster', 'open"id'],
    REDIS_URL: [
      'localhost:6379',
      'http://localhost',
      'run/redis.sock',
      'unix://run/redis.sock',
      'redis://',
      'redis://10.0.0.1/store',
      'redis://:p@ss/word#1@10.0.0.1',
      'redis://:50%off@10.0.0.1',
      'redis+sentinel://10.0.0.1:26379',
      'redis+sentinel:///store',
      'redis+sentinel://10.0.0.1:x/store',
      'nonsense',
      '/',
      '/run/one.sock,/run/two.sock',
    ],
    LOG_LEVEL: ['verbose', 'INFO'],
    OTEL_EXPORTER_OTLP_ENDPOINT: ['localhost:4318', 'grpc://localhost:4317', 'collector', 'https://'],
    OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc', 'http/json'],
    TRACE_URL: ['https://jaeger.example.com/trace/', '/trace/{traceId}', 'javascript:{traceId}'],
    ALLOW_EVICTION: ['yes', '0'],
    WEBHOOK_ALLOW_PRIVATE: ['yes', '1', 'TRUE'],
    SEAL_AFTER_SECONDS: ['-1', '1.5', '1h', '315360001'],
    SNAPSHOT_INTERVAL_SECONDS: ['-1', '1.5', '1h', '2147484'],
    SNAPSHOT_KEEP: ['0', 'all', '10001'],
    REDIS_MAXMEMORY: ['0', '6', '6 gb', '1.5gb', '0gb', '80%'],
  };
  for (const [name, texts] of Object.entries(bad)) {
    it(`refuse ${name} as ${texts.join(' or ')} with one line: its name, what is wrong and what would be right`, () => {
      for (const text of texts) {
        expect(() => readConfig({ [name]: text }), text)
          .to.throw(ConfigError)
          .with.property('message')
          .that.matches(new RegExp(`^${name}: .+ cannot be used; it must be .+$`));
      }
    });
  }

  it('refuse METRICS_PORT equal to PORT if the process listens on both', () => {
    const both = { PORT: '9090', METRICS_PORT: '9090' };
    expect(() => readConfig(both)).to.throw(
      /^METRICS_PORT: "9090" cannot be used; it must be a different port than PORT, or be left out$/,
    );
    expect(() => readConfig({ ...both, ROLE: 'worker', REDIS_URL: '/run/redis.sock' })).not.to.throw();
    expect(() => readConfig({ PORT: '0', METRICS_PORT: '0' })).not.to.throw();
  });

  it('require REDIS_URL for API and workers apart', () => {
    for (const ROLE of ['api', 'worker']) {
      expect(() => readConfig({ ROLE })).to.throw(
        ConfigError,
        new RegExp(`^REDIS_URL is missing: with ROLE=${ROLE} it must name the Redis that this process shares`),
      );
      expect(readConfig({ ROLE, REDIS_URL: '/run/redis.sock' }).role).to.equal(ROLE);
    }
    expect(readConfig({ ROLE: 'all' }).redisUrl).to.equal(null);
  });

  it('accept OIDC_ISSUER over https and on a loopback address, with OIDC_AUDIENCE and PUBLIC_URL', () => {
    const rest = { OIDC_AUDIENCE: 'muster', PUBLIC_URL: 'https://muster.example.com' };
    for (const OIDC_ISSUER of [
      'https://login.example.com',
      'http://127.0.0.1:9000',
      'http://localhost/a',
      'http://[::1]',
    ])
      expect(readConfig({ ...rest, OIDC_ISSUER }).oidcIssuer).to.equal(OIDC_ISSUER);
    const all = { ...rest, OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'console' };
    const without = (name: keyof typeof all) => () => readConfig({ ...all, [name]: '' });
    expect(without('PUBLIC_URL')).to.throw(ConfigError, /^PUBLIC_URL is missing: with OIDC_ISSUER it must be/);
    expect(without('OIDC_AUDIENCE')).to.throw(ConfigError, /^OIDC_AUDIENCE is missing: with OIDC_ISSUER it must say/);
    expect(without('OIDC_ISSUER')).to.throw(ConfigError, /^OIDC_ISSUER is missing: OIDC_AUDIENCE has no effect/);
    expect(without('OIDC_CLIENT_ID')).to.not.throw();
    expect(() => readConfig({ OIDC_CLIENT_ID: 'console' })).to.throw(/^OIDC_ISSUER is missing: OIDC_CLIENT_ID has no/);
  });

  it('are quoted on one line, line feeds escaped, and passwords are not repeated', () => {
    expect(() => readConfig({ ROLE: 'a\nb' })).to.throw(
      /^ROLE: "a\\nb" cannot be used; it must be one of api, worker, all$/,
    );
    expect(() => readConfig({ REDIS_URL: 'http://:hunter2@x' })).to.throw(/^REDIS_URL: the given value cannot be used/);
  });
});
