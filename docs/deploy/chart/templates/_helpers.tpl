{{/* The release's name if it contains "muster", otherwise <release>-muster; short enough that "-worker" can be appended. */}}
{{- define "muster.name" -}}
{{- if contains "muster" .Release.Name -}}
{{- .Release.Name | trunc 56 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-muster" (.Release.Name | trunc 49 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* The labels of every object. Selectors have none of them, since a selector can never change. */}}
{{- define "muster.labels" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* A Deployment. Takes root, role, port (where the probes ask) and values (of the role). */}}
{{- define "muster.deployment" -}}
{{- $name := include "muster.name" .root -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}-{{ .role }}
  labels:
    {{- include "muster.labels" .root | nindent 4 }}
spec:
  replicas: {{ .values.replicas }}
  selector:
    matchLabels: { app: {{ $name }}, role: {{ .role }} }
  template:
    metadata:
      labels: { app: {{ $name }}, role: {{ .role }} }
      {{- with .values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      # Longer than the 30 seconds for which a request may be held.
      terminationGracePeriodSeconds: 40
      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        # The image's user "node"; Kubernetes wants a number.
        runAsUser: 1000
        runAsGroup: 1000
        seccompProfile: { type: RuntimeDefault }
      {{- with .root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: muster
          image: {{ printf "%s:%s" .root.Values.image.repository (.root.Values.image.tag | default .root.Chart.AppVersion) | quote }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          env:
            - { name: ROLE, value: {{ .role }} }
            - name: REDIS_URL
              valueFrom: { secretKeyRef: { name: {{ .root.Values.redis.secretName }}, key: {{ .root.Values.redis.secretKey }} } }
            {{- range $setting, $value := .root.Values.settings }}
            - { name: {{ $setting }}, value: {{ $value | quote }} }
            {{- end }}
            {{- with .root.Values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            {{- if eq .role "api" }}
            - { name: http, containerPort: 8080 }
            {{- end }}
            - { name: metrics, containerPort: 9464 }
          readinessProbe:
            httpGet: { path: /readyz, port: {{ .port }} }
            periodSeconds: 5
          livenessProbe:
            httpGet: { path: /healthz, port: {{ .port }} }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          {{- with .values.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          volumeMounts:
            - { name: data, mountPath: /var/lib/muster }
            {{- with .root.Values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        # Nothing in it outlives a pod: all state is in Redis.
        - { name: data, emptyDir: {} }
        {{- with .root.Values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.topologySpreadConstraints }}
      topologySpreadConstraints:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}
